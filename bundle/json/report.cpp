#include "bundle/json/report.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ocirun::bundle {
namespace {

/// Adds `sentence` unless the list has it for the same value: the one list of capabilities of a 0.5
/// document is read three times (SD-5).
void add(std::vector<std::string>& list, std::string sentence, std::vector<const Node*>& nodes,
         const Node* node) {
  if (list.size() == Report::kMaxListed) return;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (nodes[i] == node && list[i] == sentence) return;
  list.push_back(std::move(sentence));
  nodes.push_back(node);
}

}  // namespace

void Report::problem(std::string sentence, const Node* node) {
  ++problem_count_;
  add(problems_, std::move(sentence), nodes_of_problems_, node);
}

void Report::warning(std::string sentence, const Node* node) {
  add(warnings_, std::move(sentence), nodes_of_warnings_, node);
}

void Report::ignore(std::span<const std::string> names) {
  for (const std::string& name : names) ignored_.emplace(name, false);
}

bool Report::ignores(std::string_view name) {
  const auto found = ignored_.find(name);
  if (found == ignored_.end()) return false;
  found->second = true;
  return true;
}

std::vector<std::string> Report::unused_ignored() const {
  std::vector<std::string> names;
  for (const auto& [name, is_used] : ignored_)
    if (!is_used) names.push_back(name);
  return names;
}

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
