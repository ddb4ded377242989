#include "bundle/json/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ocirun::bundle {
namespace {

/// Adds `sentence` unless the list has it: the one list of capabilities of a 0.5 document is read
/// three times (SD-5).
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
