#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::bundle {

/// Collects what is wrong with a document instead of stopping at the first mistake. Every sentence
/// begins with the JSON pointer of the value that it is about.
class Report {
 public:
  /// More problems than these are only counted: a hostile document cannot make the list grow.
  static constexpr std::size_t kMaxListed = 100;

  void problem(std::string sentence) {
    ++problem_count_;
    add(problems_, std::move(sentence));
  }
  void warning(std::string sentence) { add(warnings_, std::move(sentence)); }

  bool ok() const { return problem_count_ == 0; }
  std::size_t problem_count() const { return problem_count_; }
  const std::vector<std::string>& problems() const { return problems_; }
  std::vector<std::string>& problems() { return problems_; }
  std::vector<std::string>& warnings() { return warnings_; }

  /// Whether something at `pointer` or below it is wrong: a rule that builds on it would only
  /// repeat that in other words.
  bool has_problem_below(std::string_view pointer) const;

 private:
  /// A list that a 0.5 document gave once and is read three times complains once (SD-5).
  static void add(std::vector<std::string>& list, std::string sentence) {
    if (list.size() < kMaxListed && std::ranges::find(list, sentence) == list.end())
      list.push_back(std::move(sentence));
  }

  std::vector<std::string> problems_, warnings_;
  std::size_t problem_count_ = 0;
};

}  // namespace ocirun::bundle
