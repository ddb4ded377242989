#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::bundle {

struct Node;

/// Whether unknown names in a document give warnings. The specification wants them ignored (D-4),
/// so `create` and `run` pass them over. `validate`, `exec --process` and `update --resources` tell
/// them.
enum class UnknownNames : std::uint8_t { kPassedOver, kTold };

/// Collects all problems and warnings of a document, so that reading need not stop at the first.
/// Every sentence begins with the JSON pointer of the value.
class Report {
 public:
  /// The most sentences in each list, so that a hostile document cannot exhaust memory.
  /// problem_count() counts all problems.
  static constexpr std::size_t kMaxListed = 100;

  explicit Report(UnknownNames unknown_names = UnknownNames::kPassedOver)
      : unknown_names_(unknown_names) {}

  /// `node`: the value that the sentence is about, for a caller that knows the lines of its values.
  void problem(std::string sentence, const Node* node = nullptr);
  void warning(std::string sentence, const Node* node = nullptr);

  /// Turns the refusal of members of these names into a warning, because the user asked for that. A
  /// name that the format of the document does not have is refused all the same.
  void ignore(std::span<const std::string> names);
  /// Whether `name` was given to ignore(). Such a name counts as used from now on.
  bool ignores(std::string_view name);
  /// Remembers a value that is left out because of ignore().
  void leave_out(const Node& node) { left_out_.push_back(&node); }
  const std::vector<const Node*>& left_out() const { return left_out_; }
  /// From now on, a refusal of something that the format has, and that ocirun does not support, is
  /// collected in unsupported() instead of being a problem.
  void defer_unsupported() { defers_unsupported_ = true; }
  bool defers_unsupported() const { return defers_unsupported_; }
  /// Where an export finds an unsupported part. kCopied: in the document alone. kOfThePod: also in
  /// the Pod that was read from the document.
  enum class Export : std::uint8_t { kCopied, kOfThePod };
  struct Unsupported {
    const Node* node;
    std::string name;  // for ignore(); "": it cannot be left out
    std::string sentence;
    Export written = Export::kCopied;
  };
  void add_unsupported(Unsupported part);
  const std::vector<Unsupported>& unsupported() const { return unsupported_; }
  /// Whether the value, or a value below it, is one of unsupported().
  bool has_unsupported_in(const Node& node) const { return around_unsupported_.contains(&node); }

  /// The names given to ignore() that ignores() was never asked about.
  std::vector<std::string> unused_ignored() const;

  bool tells_unknown_names() const { return unknown_names_ == UnknownNames::kTold; }
  bool ok() const { return problem_count_ == 0; }
  std::size_t problem_count() const { return problem_count_; }
  /// "A: b (and 2 more problems)". There must be a problem.
  std::string first_problem() const;
  std::vector<std::string>& problems() { return problems_; }
  std::vector<std::string>& warnings() { return warnings_; }
  /// The values that the sentences are about, by the index of the sentence; nullptr: none.
  const std::vector<const Node*>& nodes_of_problems() const { return nodes_of_problems_; }
  const std::vector<const Node*>& nodes_of_warnings() const { return nodes_of_warnings_; }

  /// Whether a problem of the value at `pointer`, or of a value below it, is listed. A rule that
  /// needs the value is then skipped, because it would only report the same mistake again.
  bool has_problem_below(std::string_view pointer) const;

 private:
  std::vector<std::string> problems_, warnings_;
  std::vector<const Node*> nodes_of_problems_, nodes_of_warnings_, left_out_;
  std::size_t problem_count_ = 0;
  std::map<std::string, bool, std::less<>> ignored_;  // names, and whether each has been used
  std::vector<Unsupported> unsupported_;
  std::set<const Node*> around_unsupported_;  // nodes of unsupported_, and the nodes around them
  UnknownNames unknown_names_;
  bool defers_unsupported_ = false;
};

/// The word of `known` that is the fewest typing mistakes away from `word`; "" if all are so far
/// away that the best would be a guess. Looks at the first 1,000 words.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace ocirun::bundle
