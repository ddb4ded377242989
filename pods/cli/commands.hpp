#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/documents/workload.hpp"
#include "pods/run/settings.hpp"
#include "pods/systemd/service_notifier.hpp"

namespace ocirun::pods::cli {

/// An option of a command. The parser and the help read the command's table of options.
struct Option {
  std::string_view name;   // "profile"
  std::string_view value;  // "DIR"; empty: a switch; "[=SECONDS]": a value may follow behind "="
  std::string_view help;
  char letter = 0;  // of the short form, "-f"; 0: none
};

/// The options and operands behind a command's name.
class Arguments {
 public:
  /// Parses `words`: `--name value`, `--name=value` and `--switch` may stand anywhere. All words
  /// behind `--` are operands, and so is "-". With `stops`, all words behind the first operand are
  /// operands, because they belong to another program. Errors: an option that is not in `options`,
  /// a missing value.
  static Result<Arguments> parse(std::span<const std::string> words,
                                 std::span<const Option> options, bool stops = false);

  /// Gives a value to an option that is not on the command line.
  void set_default(std::string_view option, std::string value);
  bool has(std::string_view option) const { return values_.contains(option); }
  /// All values of an option that may be repeated, in their order.
  std::vector<std::string> values(std::string_view option) const;
  /// The last value of the option; "" for a switch.
  std::optional<std::string> value(std::string_view option) const;
  /// The options of the command line but `left_out`, each as a word that parse() reads again, in
  /// the order of the table `options`.
  std::vector<std::string> words_but(std::span<const Option> options,
                                     std::span<const std::string_view> left_out) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
};

/// How `ocirun pod` was called: the command line of `ocirun` before the command of `pod`.
struct Caller {
  std::string runtime;               // the path of ocirun
  std::vector<std::string> options;  // the options before `pod`, for each call of the runtime
  ManagerVariables manager = {};
  bool is_ordinary = false;  // the user was not root, and may be root of a user namespace now
};

inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// A command of `ocirun pod`.
struct Command {
  std::string_view name;
  std::string_view operands;
  std::string_view summary;
  std::span<const Option> options;
  std::size_t least_operands;
  std::size_t most_operands;
  Result<int> (*run)(const Arguments& arguments, const Caller& caller);  // the exit status
  bool takes_program =
      false;  // the words behind the first operand are the command line of another program
  /// The command makes or removes files of several owners. An ordinary user becomes root of a user
  /// namespace before `run`.
  bool needs_root = false;
};

/// Checks documents or, with --profile, bundles.
extern const Command kValidate;
extern const Command kRun, kPlan, kUnit, kExport;
extern const Command kStart, kRestart;
extern const Command kStatus, kLogs, kEvents, kExec, kStop, kDelete;
extern const Command kPorts, kStats, kCopy;
extern const Command kWait, kKill;
extern const Command kImages, kPull, kVolumes;

/// Prints to stdout. Errors: stdout is closed, or its disk is full.
Result<void> print(std::string_view text);
/// Prints a line to stderr, "ocirun: warning: …".
void warn(std::string_view sentence);
/// Prints a line to stderr, "ocirun: …", that is no warning.
void note(std::string_view sentence);

/// Prints an error as main() does. For a command that continues after the error, or whose exit
/// status is not 1.
void print_error(const Command& command, Error error);

inline constexpr Option kDataOption{"data", "DIR",
                                    "keep images and pods below DIR (default /var/lib/ocirun)"};
inline constexpr Option kIgnoreOption{
    "ignore", "NAME[,NAME]", "warn of what the document has and is not supported, by its NAME"};
/// The names of --ignore. Errors: a name is empty.
Result<std::vector<std::string>> read_ignored(const Arguments& arguments);
/// The error for a name of --ignore that no refused part of the document has.
std::string unused_ignored(std::string_view name);

/// The directory of --data. main() has set the default.
HostPath data_of(const Arguments& arguments);

/// Reads the text of a document; "-" is standard input.
Result<std::string> read_document(const std::string& file);
/// The name of a document in messages.
std::string shown_name(const std::string& file);

/// Whether --format is json. Errors: it is neither json nor text.
Result<bool> wants_json(const Arguments& arguments);

/// The options that complete a document, for `run` and `plan`, followed by the command's `own`
/// options.
std::vector<Option> with_given_options(std::span<const Option> own);
enum class Empty : std::uint8_t { kRefused, kAllowed };
/// "NAME=VALUE" of each use of an option. `empty`: whether VALUE may be "". Errors: another form; a
/// NAME that is given twice.
Result<std::map<std::string, std::string>> pairs_of(const Arguments& arguments,
                                                    std::string_view option,
                                                    Empty empty = Empty::kRefused);

inline constexpr Option kPullSecretOption{
    "pull-secret", "NAME=AUTHFILE",
    "the file with the credentials of the pull secret NAME, as `skopeo login` writes it"};
inline constexpr Option kPlainHttpOption{
    "plain-http", "HOST[:PORT]", "speak with this registry without TLS, or without verifying it"};
inline constexpr Option kPullTimeoutOption{
    "pull-timeout", "SECONDS", "give a pull up when nothing arrives for so long (default 120)"};
/// The values of --pull, --pull-secret, --plain-http and --pull-timeout. Errors name the option.
Result<Pulling> read_pulling(const Arguments& arguments);
/// Warns of each pull secret of the document that no --pull-secret gives.
void warn_of_pull_secrets(const Arguments& arguments, const Workload& workload);

/// The values of these options. Errors name the option and the form of its value.
Result<Given> read_given(const Arguments& arguments);

/// The variables of --env-file and --env, each name once: the last value counts, and --env counts
/// more than --env-file. A name without a value has the value of the caller's environment. Errors:
/// such a variable is not set; another form.
Result<std::vector<std::pair<std::string, std::string>>> read_variables(const Arguments& arguments);

/// Reads a document for `run` or `plan`, and prints its warnings. Errors: all problems of the
/// document; parts that need several machines, if it is to run on this one.
Result<Workload> read_workload_to_run(const Arguments& arguments, const std::string& file,
                                      Audience audience = Audience::kThisMachine);
/// The same for the `text` of the document.
Result<Workload> workload_of_text(const Arguments& arguments, const std::string& file,
                                  const std::string& text,
                                  Audience audience = Audience::kThisMachine);

/// The name of the pod: --name, else `of_document`, the name that the document has, else the name
/// of the file without its ending.
Result<std::string> name_for(const Arguments& arguments, const std::string& of_document,
                             const std::string& file);

/// Parses whole seconds, from 0 to a year.
Result<std::chrono::seconds> read_seconds(std::string_view option, std::string_view text);

}  // namespace ocirun::pods::cli
