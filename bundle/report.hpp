#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::bundle {

/// Collects what is wrong with a document instead of stopping at the first mistake. Every sentence
/// begins with the JSON pointer of the value that it is about.
class Report {
 public:
  /// More sentences than these are only counted: a hostile document cannot make the list grow.
  static constexpr std::size_t kMaxListed = 100;

  void problem(std::string sentence);
  void warning(std::string sentence);

  bool ok() const { return problem_count_ == 0; }
  std::size_t problem_count() const { return problem_count_; }
  std::vector<std::string>& problems() { return problems_; }
  std::vector<std::string>& warnings() { return warnings_; }

  /// Whether something at `pointer` or below it is wrong: a rule that builds on it would only
  /// repeat that in other words.
  bool has_problem_below(std::string_view pointer) const;

 private:
  std::vector<std::string> problems_, warnings_;
  std::size_t problem_count_ = 0;
};

/// "A: b (and 2 more problems)"; `problems` is not empty, `count` is of all, listed or not.
std::string first_of(const std::vector<std::string>& problems, std::size_t count);

}  // namespace ocirun::bundle
