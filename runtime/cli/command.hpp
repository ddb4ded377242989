#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/cli/arguments.hpp"
#include "bundle/documents/recording.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime::cli {

using bundle::cli::Arguments;
using bundle::cli::Completes;
using bundle::cli::kAnyNumber;
using bundle::cli::Operand;
using bundle::cli::Option;
using bundle::cli::OptionPlacement;
using bundle::cli::Times;

/// kSealed: the command makes processes in containers, so it runs from the sealed copy of the
/// executable (CVE-2019-5736). kOther: another program of ocirun has the command, and its options.
enum class Executable { kPlain, kSealed, kOther };

struct Invocation {
  const GlobalOptions& options;
  const Log& log;
  const Arguments& arguments;
  Inheritance inheritance;
  bundle::Recording& recording;       // a command that waits for the program finishes it before
  std::string process_document = {};  // the text of the file of `exec --process`
};

struct Command : bundle::cli::Syntax {
  Result<int> (*run)(const Invocation&) = nullptr;  // the exit status
  Executable executable = Executable::kPlain;
  int failure_status = 1;
};

/// The commands of a floor above, which is criu/ alone. A build without criu/ (OCIRUN_CRIU=OFF) has
/// none.
struct AddedCommands {
  std::span<const Command> commands;  // at most kMostAdded
  bool (*can_checkpoint)(const GlobalOptions&) =
      nullptr;  // whether the programs that a checkpoint needs are installed
};
inline constexpr std::size_t kMostAdded = 2;
/// Called once, by main() before run_command_line().
void add_commands(const AddedCommands& commands);
const AddedCommands& added_commands();

/// The command line of `ocirun`.
const bundle::cli::Program& program();
inline auto all_commands() {
  return program().commands |
         std::views::transform([](const bundle::cli::Syntax* syntax) -> const Command& {
           return static_cast<const Command&>(*syntax);
         });
}
/// The command of this name; nullptr if there is none.
const Command* find_command(std::string_view name);
/// The container that the first operand names. Errors: no operand, or no valid id.
Result<ContainerId> id_of(const Arguments& arguments);

std::string help_text();
std::string version_text();

/// The candidates for the last of the words behind "ocirun", as bundle::cli::completion_text()
/// prints them. Executes the program of `pod` for a line of `pod`. Never fails: "" instead.
std::string complete_line(std::span<const std::string> words);

/// Begins the timeline of a command that has the option --trace, if a file is given for it. The
/// file is that of --trace, else one of its own in the directory $OCIRUN_TRACE, for engines, which
/// pass no options on. Errors: --trace names no file that can be written. Where $OCIRUN_TRACE names
/// no such directory, a warning says so, and there is no timeline.
Result<bundle::Recording> begin_recording(const Command& command, const Arguments& arguments,
                                          const Log& log);
/// Writes the file. A file that cannot be written is a warning.
void finish(bundle::Recording& recording, const Log& log);

/// Runs the command of a command line; the body of main(). Returns the exit status.
int run_command_line(int argc, char** argv);

// The commands. Each returns the exit status.
Result<int> run_create(const Invocation&);
Result<int> run_delete(const Invocation&);
Result<int> run_events(const Invocation&);
Result<int> run_exec(const Invocation&);
Result<int> run_features(const Invocation&);
Result<int> run_completion(const Invocation&);
Result<int> run_inspect(const Invocation&);
Result<int> run_kill(const Invocation&);
Result<int> run_list(const Invocation&);
Result<int> run_mounts(const Invocation&);
Result<int> run_pause(const Invocation&);
Result<int> run_ps(const Invocation&);
Result<int> run_resume(const Invocation&);
Result<int> run_run(const Invocation&);
Result<int> run_spec(const Invocation&);
Result<int> run_start(const Invocation&);
Result<int> run_state(const Invocation&);
Result<int> run_trace(const Invocation&);
Result<int> run_update(const Invocation&);
Result<int> run_validate(const Invocation&);

/// Executes the program of the command `pod`. `options`: the words before the command; `operands`:
/// the words behind the command. Returns only if execve fails.
Error become_pod_program(std::span<const std::string> options,
                         std::span<const std::string> operands);

/// The states of those of `ids` that are containers in the state root `store`. Errors: the state of
/// a container cannot be read because of a shortage, such as EMFILE.
Result<std::vector<bundle::StateDocument>> listed_states(const Store& store,
                                                         const std::vector<std::string>& ids);

/// Prints to stdout. Errors: stdout is closed, or the disk is full.
Result<void> print(std::string_view text);

}  // namespace ocirun::runtime::cli
