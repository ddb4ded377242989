#include "tests/growth/growth.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ocirun::test {
namespace {

constexpr std::size_t kItems = 30, kFactor = 4;
// Where a list grows four times as much, its work grows four times as much, and with maps five
// times; the square grows sixteen times. Buffers that double grow up to nine times.
constexpr double kMostComparisons = 6, kMostBytes = 10;

/// The members that must differ in the items of a list.
constexpr std::array kUnique = {"name",       "path",          "mountPath",  "key",
                                "prefix",     "containerPort", "port",       "hostPort",
                                "secretName", "claimName",     "image",      "volume",
                                "fsPath",     "destination",   "containerID"};

using Counts = std::array<std::uint64_t, 3>;

/// Whether the second growth is more than `most` times the first.
bool grows_too_fast(const Counts& counts, double most) {
  const auto first = static_cast<double>(counts[1]) - static_cast<double>(counts[0]);
  const auto second = static_cast<double>(counts[2]) - static_cast<double>(counts[1]);
  constexpr double kTooFew = 50'000;
  return second > kTooFew && second > most * std::max(first, 1.0);
}

void check_counts(const std::string& what, const Counts& counts, double most) {
  BOOST_CHECK_MESSAGE(!grows_too_fast(counts, most),
                      what << ": " << counts[0] << ", " << counts[1] << ", " << counts[2]);
}

void check_growth_at(const std::string& what, const std::array<Work, 3>& works) {
  const auto counts = [&](std::uint64_t Work::* member) {
    return Counts{works[0].*member, works[1].*member, works[2].*member};
  };
  check_counts(what + ": comparisons", counts(&Work::comparisons), kMostComparisons);
  check_counts(what + ": bytes", counts(&Work::bytes), kMostBytes);
}

/// 30, 120, 480
std::size_t items(std::size_t step) {
  std::size_t count = kItems;
  while (step-- != 0) count *= kFactor;
  return count;
}

std::string token_of(std::string name) {
  for (std::size_t at = 0; (at = name.find_first_of("~/", at)) != std::string::npos; at += 2)
    name.replace(at, 1, name[at] == '~' ? "~0" : "~1");
  return name;
}

void collect(const Json& at, const std::string& pointer, std::vector<std::string>& out) {
  if (!at.is_structured() || at.empty()) return;
  out.push_back(pointer);
  for (const auto& [key, child] : at.items()) collect(child, pointer + "/" + token_of(key), out);
}

void grow(Json& at, std::size_t count) {
  if (at.empty()) return;
  if (at.is_array()) {
    const Json first = at.front();
    for (std::size_t i = at.size(); i < count; ++i) at.push_back(varied(first, i));
  } else if (at.is_object()) {
    const std::string name = at.begin().key();
    const Json first = at.begin().value();
    for (std::size_t i = at.size(); i < count; ++i) at[name + std::to_string(i)] = varied(first, i);
  }
}

void grow_lists(Json& at, std::size_t count) {
  if (!at.is_structured()) return;
  for (auto& [key, child] : at.items()) grow_lists(child, count);
  if (at.is_array()) grow(at, count);
}

}  // namespace

Json varied(const Json& value, std::size_t number) {
  if (value.is_number_unsigned()) return value.get<std::size_t>() + number;
  if (!value.is_object()) return value;
  Json out = value;
  for (const char* member : kUnique) {
    const auto found = out.find(member);
    if (found == out.end()) continue;
    if (found->is_string()) *found = found->get<std::string>() + std::to_string(number);
    if (found->is_number_unsigned()) *found = found->get<std::size_t>() + number;
  }
  return out;
}

Json with_one_grown(const Json& document, const std::string& pointer, std::size_t count) {
  Json grown = document;
  grow(grown[Json::json_pointer(pointer)], count);
  return grown;
}

Json with_all_grown(const Json& document, std::size_t count) {
  Json grown = document;
  grow_lists(grown, count);
  return grown;
}

std::vector<std::string> growing_places(const Json& document) {
  std::vector<std::string> out;
  collect(document, "", out);
  return out;
}

void check_growth(const std::string& text, const std::function<void(const std::string&)>& act) {
  const Json document = Json::parse(text);
  for (const std::string& pointer : growing_places(document)) {
    std::array<Work, 3> works;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const std::string grown = with_one_grown(document, pointer, items(i)).dump();
      works[i] = work_of([&] { act(grown); });
    }
    check_growth_at(pointer.empty() ? "the document" : pointer, works);
  }
  std::array<double, 2> of_a_byte{};
  for (std::size_t i = 0; i < of_a_byte.size(); ++i) {
    const std::string grown = with_all_grown(document, std::size_t{4} << i).dump();
    const Work work = work_of([&] { act(grown); });
    of_a_byte[i] =
        static_cast<double>(work.comparisons + work.bytes) / static_cast<double>(grown.size());
  }
  BOOST_CHECK_MESSAGE(of_a_byte[1] < 1.5 * of_a_byte[0],
                      "all lists: " << of_a_byte[0] << ", then " << of_a_byte[1] << " for a byte");
}

void check_growth_of(const std::string& what, const std::function<void(std::size_t)>& act) {
  std::array<Work, 3> works;
  for (std::size_t i = 0; i < works.size(); ++i) works[i] = work_of([&] { act(items(i)); });
  check_growth_at(what, works);
}

}  // namespace ocirun::test
