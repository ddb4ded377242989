#include "bundle/json/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "bundle/json/document.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::bundle {
namespace {

/// Adds `sentence`, unless the list has the same sentence for the same value. For example, the list
/// of capabilities of a 0.5 document is read three times (SD-5).
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

void Report::add_unsupported(Unsupported part) {
  const Node* node = part.node;
  if (has_unsupported_in(*node) &&
      std::ranges::find(unsupported_, node, &Unsupported::node) != unsupported_.end())
    return;
  unsupported_.push_back(std::move(part));
  while (node != nullptr && around_unsupported_.insert(node).second) node = node->parent;
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

std::string Report::first_problem() const {
  if (problem_count_ < 2) return problems_.front();
  return fmt::format("{} (and {} more {})", problems_.front(), problem_count_ - 1,
                     problem_count_ == 2 ? "problem" : "problems");
}

namespace {

/// The number of typing mistakes between two words: insertions, deletions, replacements, and swaps
/// of two neighbouring letters (optimal string alignment). kLongest if a word has more letters than
/// that.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 48;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<std::array<std::size_t, kLongest + 1>, 3> rows{};  // row i is rows[i % 3]
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], rows[(i + 1) % 3][j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::string upper(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = linux::upper(c);
  return out;
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::string typed = upper(word);  // a difference in case is no mistake
  std::string_view best;
  // A word that needs more typing mistakes than `most` would be a guess.
  const std::size_t most = word.size() < 4 ? 1 : std::max<std::size_t>(2, word.size() / 4);
  std::size_t least = most + 1;
  constexpr std::size_t kMostCandidates = 1000;  // a document can have more names of its own
  for (const std::string_view candidate : known.first(std::min(known.size(), kMostCandidates))) {
    const std::size_t distance = edit_distance(typed, upper(candidate));
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace ocirun::bundle
