#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime::cli {

/// The words that a shell's completion offers for the value of an option, or for an operand.
/// kWords: the words between the bars of the value's text, as in "table|json".
enum class Completes : std::uint8_t {
  kNothing,
  kWords,
  kFile,
  kDirectory,
  kCapability,
  kContainer,
  kSignal
};
/// kMany: each occurrence of the option counts. Help says "repeatable", and completion offers the
/// option again.
enum class Times : std::uint8_t { kOnce, kMany };

/// A row of the table of options. The parser, the help and the completion scripts read the table.
struct Option {
  std::string_view name;        // "pid-file"
  char letter = 0;              // 'p', or 0
  std::string_view value = {};  // "FILE"; empty: a switch
  std::string_view help = {};
  Completes completes = Completes::kNothing;
  Times times = Times::kOnce;
};

/// The words that completion offers for an operand. For kContainer: the containers whose status
/// suits `wanted`, and those whose status suits `widened_to` if the line has the switch
/// `widened_by`. A null function stands for all statuses.
struct Operand {
  Completes completes = Completes::kNothing;
  bool (*wanted)(Status) = nullptr;
  std::string_view widened_by = {};
  bool (*widened_to)(Status) = nullptr;
};

/// The options and operands that follow a command's name.
class Arguments {
 public:
  /// Whether the command line has the option; also with an empty value.
  bool has(std::string_view option) const { return values_.contains(option); }
  /// The last value of the option. An empty value counts as a missing option, as with runc: scripts
  /// pass `--user "$U"`.
  std::optional<std::string> value(std::string_view option) const;
  /// All values of the option that are not empty, in the order of the command line.
  std::vector<std::string> all(std::string_view option) const;
  /// The option's value, or `otherwise` without one. Errors: the value is not a number from 0 to
  /// `most`.
  Result<int> number(std::string_view option, int otherwise, int most) const;
  std::optional<HostPath> path(std::string_view option) const;
  /// The first positional argument. Errors: it is missing, or no valid id.
  Result<ContainerId> id() const;

  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> positionals;
};

/// The places where options may stand. kUntilPositional: before the first positional argument; the
/// words from there on belong to another program (exec, ps).
enum class OptionPlacement { kAnywhere, kUntilPositional };
/// kSealed: the command makes processes in containers, so it runs from the sealed copy of the
/// executable (CVE-2019-5736). kOther: another program of ocirun has the command, and its options.
enum class Executable { kPlain, kSealed, kOther };

struct Invocation {
  const GlobalOptions& options;
  const Log& log;
  const Arguments& arguments;
  Inheritance inheritance;
  std::string process_document = {};  // the text of the file of `exec --process`
};

struct Command {
  std::string_view name;
  std::string_view operands;  // "[--] ID [SIGNAL]"
  std::string_view summary;
  std::span<const Option> options;
  std::size_t least_operands = 0, most_operands = 0;
  Result<int> (*run)(const Invocation&);  // the exit status
  OptionPlacement placement = OptionPlacement::kAnywhere;
  Executable executable = Executable::kPlain;
  int failure_status = 1;
  std::array<Operand, 2> completed_operands = {};
};

/// The commands of a floor above, which is criu/ alone. A build without criu/ (OCIRUN_CRIU=OFF) has
/// none.
struct AddedCommands {
  std::span<const Command> commands;
  bool (*can_checkpoint)(const GlobalOptions&) =
      nullptr;  // whether the programs for it are installed
};
/// Called by main() before run_command_line().
void add_commands(const AddedCommands& commands);
const AddedCommands& added_commands();

std::vector<Command> all_commands();
std::span<const Option> global_options();
const Command* find_command(std::string_view name);

/// Parses `words` into options and positional arguments. `consumed` gets the number of words that
/// were parsed. Errors: an option that is not in `options`; a missing value.
Result<Arguments> parse_words(std::span<const std::string> words, std::span<const Option> options,
                              OptionPlacement placement, std::size_t* consumed = nullptr);

std::string help_text();
std::string help_text(const Command& command);
std::string version_text();

/// Runs the command of a command line; the body of main(). Returns the exit status.
int run_command_line(int argc, char** argv);

// The commands. Each returns the exit status.
Result<int> run_create(const Invocation&);
Result<int> run_delete(const Invocation&);
Result<int> run_events(const Invocation&);
Result<int> run_exec(const Invocation&);
Result<int> run_features(const Invocation&);
Result<int> run_completion(const Invocation&);
Result<int> run_kill(const Invocation&);
Result<int> run_list(const Invocation&);
Result<int> run_pause(const Invocation&);
Result<int> run_ps(const Invocation&);
Result<int> run_resume(const Invocation&);
Result<int> run_run(const Invocation&);
Result<int> run_spec(const Invocation&);
Result<int> run_start(const Invocation&);
Result<int> run_state(const Invocation&);
Result<int> run_update(const Invocation&);
Result<int> run_validate(const Invocation&);

/// Executes the program of the command `pod`. `options`: the words before the command; `operands`:
/// those behind it. Returns only if that fails.
Error become_pod_program(std::span<const std::string> options,
                         std::span<const std::string> operands);

/// Prints to stdout. Errors: it is closed or full.
Result<void> print(std::string_view text);

}  // namespace ocirun::runtime::cli
