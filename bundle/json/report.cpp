#include "bundle/json/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ocirun::bundle {
namespace {

/// The list that a 0.5 document gives once and that is read three times (SD-5) complains once.
void add(std::vector<std::string>& list, std::string sentence) {
  if (list.size() < Report::kMaxListed && std::ranges::find(list, sentence) == list.end())
    list.push_back(std::move(sentence));
}

}  // namespace

void Report::problem(std::string sentence) {
  ++problem_count_;
  add(problems_, std::move(sentence));
}

void Report::warning(std::string sentence) { add(warnings_, std::move(sentence)); }

bool Report::has_problem_below(std::string_view pointer) const {
  return std::ranges::any_of(problems_, [&](const std::string& sentence) {
    return sentence.starts_with(pointer) && sentence.size() > pointer.size() &&
           (sentence[pointer.size()] == ':' || sentence[pointer.size()] == '/');
  });
}

std::string first_of(const std::vector<std::string>& problems, std::size_t count) {
  if (count < 2) return problems.front();
  return fmt::format("{} (and {} more {})", problems.front(), count - 1,
                     count == 2 ? "problem" : "problems");
}

}  // namespace ocirun::bundle
