#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/cli/arguments.hpp"

namespace ocirun::pods::cli {

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
