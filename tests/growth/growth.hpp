#pragma once

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/growth/work.hpp"

namespace ocirun::test {

using Json = nlohmann::ordered_json;

/// A copy of `value` that can stand beside it in a list: what must be unique there has the number
/// in it.
Json varied(const Json& value, std::size_t number);

/// `document` with `count` items in each of its lists and objects of named items ("all at once":
/// lists of a list too), or only in that at `pointer`.
Json with_all_grown(const Json& document, std::size_t count);
Json with_one_grown(const Json& document, const std::string& pointer, std::size_t count);

/// The pointers of the lists, and of the objects, of `document`.
std::vector<std::string> growing_places(const Json& document);

/// Checks that twice the items of one list take no more than about twice the work, for each list of
/// the document, and that the work for a byte is the same when all lists grow.
void check_growth(const std::string& text, const std::function<void(const std::string&)>& act);

/// Checks that twice as much of something takes no more than about twice the work: `act(count)`.
void check_growth_of(const std::string& what, const std::function<void(std::size_t)>& act);

}  // namespace ocirun::test
