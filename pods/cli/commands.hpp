#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::pods::cli {

/// A row of a command's table of options. The parser and the help read the table.
struct Option {
  std::string_view name;   // "profile"
  std::string_view value;  // "DIR"; empty: a switch; "[=SECONDS]": a value may follow behind "="
  std::string_view help;
  char letter = 0;  // of the short form, "-f"; 0: none
};

/// The options and operands behind a command's name.
class Arguments {
 public:
  /// Parses `words`: `--name value`, `--name=value` and `--switch` anywhere; all words behind `--`
  /// are operands, and so is "-". With `stops`, all words behind the first operand are operands:
  /// they are another program's. Errors: an option that is not in `options`, a missing value.
  static Result<Arguments> parse(std::span<const std::string> words,
                                 std::span<const Option> options, bool stops = false);

  /// Gives an option that the caller left out a value.
  void set_default(std::string_view option, std::string value);
  bool has(std::string_view option) const { return values_.contains(option); }
  /// All values of an option that may be repeated, in their order.
  std::vector<std::string> values(std::string_view option) const;
  /// The last value of the option; "" for a switch.
  std::optional<std::string> value(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
};

/// What stood on the command line of `ocirun` before the command of `pod`.
struct Caller {
  std::string runtime;               // the path of ocirun
  std::vector<std::string> options;  // the options before `pod`, for each call of the runtime
  bool is_ordinary = false;          // is root now in a user namespace, but was no root before
};

/// A command of `ocirun pod`.
struct Command {
  std::string_view name;
  std::string_view operands;
  std::string_view summary;
  std::span<const Option> options;
  std::size_t least_operands;
  Result<int> (*run)(const Arguments& arguments, const Caller& caller);  // the exit status
  bool takes_program = false;  // what follows the first operand belongs to another program
  /// Makes or removes files of several owners: an ordinary user becomes root of a user namespace
  /// before `run`.
  bool needs_root = false;
};

/// Checks documents, or with --profile bundles: validate_contract().
extern const Command kValidate;
extern const Command kRun, kPlan;
extern const Command kStatus, kLogs, kEvents, kExec, kStop, kDelete;
extern const Command kImages;

/// Prints to stdout. Errors: it is closed or full.
Result<void> print(std::string_view text);
/// Prints a line to stderr, "ocirun: warning: …".
void warn(std::string_view sentence);

/// Prints the error of a command that goes on, or has another exit status for it than 1, as main()
/// prints errors.
void print_error(const Command& command, Error error);

inline constexpr Option kDataOption{"data", "DIR",
                                    "keep images and pods below DIR (default /var/lib/ocirun)"};
inline constexpr Option kIgnoreOption{
    "ignore", "NAME[,NAME]", "warn of what the document has and is not supported, by its NAME"};
/// The names of --ignore. Errors: an empty one.
Result<std::vector<std::string>> read_ignored(const Arguments& arguments);
/// The error of a name of --ignore that nothing refused has.
std::string unused_ignored(std::string_view name);

/// The directory of --data, or the default that main() has put in its place.
HostPath data_of(const Arguments& arguments);

/// The text of a document; "-" is standard input.
Result<std::string> read_document(const std::string& file);
/// How messages call a document.
std::string shown_name(const std::string& file);

/// --format json or text.
Result<bool> wants_json(const Arguments& arguments);

}  // namespace ocirun::pods::cli
