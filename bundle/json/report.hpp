#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::bundle {

/// Whether names that nobody knows are told of. The specification wants them ignored (D-4): only
/// who asks what may be wrong with a document hears of them.
enum class UnknownNames : std::uint8_t { kPassedOver, kTold };

/// Collects what is wrong with a document instead of stopping at the first mistake. Every sentence
/// begins with the JSON pointer of the value that it is about.
class Report {
 public:
  /// More sentences than these are only counted: a hostile document cannot make the list grow.
  static constexpr std::size_t kMaxListed = 100;

  explicit Report(UnknownNames unknown_names = UnknownNames::kPassedOver)
      : unknown_names_(unknown_names) {}

  void problem(std::string sentence);
  void warning(std::string sentence);

  bool tells_unknown_names() const { return unknown_names_ == UnknownNames::kTold; }
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
  UnknownNames unknown_names_;
};

/// "A: b (and 2 more problems)"; `problems` is not empty, `count` is of all, listed or not.
std::string first_of(const std::vector<std::string>& problems, std::size_t count);

}  // namespace ocirun::bundle
