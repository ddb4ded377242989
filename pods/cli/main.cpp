// ocirun-pod: the program behind `ocirun pod`. A program of its own, because it has libraries that
// no other command of ocirun needs. `ocirun` executes it as `ocirun-pod OCIRUN COUNT OPTION…
// COMMAND OPERAND…`: the path of ocirun, and the number of the options before `pod`.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "bundle/cli/help.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/ordinary_user.hpp"
#include "pods/cli/overview.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods::cli {
namespace {

Result<int> run_command(const Command& command, std::span<const std::string> words, Caller caller) {
  OCIRUN_TRY_ASSIGN(Arguments arguments, bundle::cli::parse(kProgram, command, words));
  // The default depends on the user, so it is set before the process is root of a user namespace.
  const bool uses_data =
      std::ranges::find(command.options, kDataOption.name, &Option::name) != command.options.end();
  if (uses_data && !arguments.has(kDataOption.name)) {
    OCIRUN_TRY_ASSIGN(const HostPath data, default_data_directory());
    arguments.set_default(kDataOption.name, data.string());
  }
  caller.is_ordinary = ::geteuid() != 0;
  if (command.rights == Rights::kRoot && caller.is_ordinary)
    return run_as_root_of_namespace(command, arguments, caller);
  return command.run(arguments, caller);
}

Result<int> run_command(std::span<const std::string> words, const Caller& caller) {
  if (words.empty()) return refuse("pod: a command is missing; see ocirun pod --help");
  const std::string& first = words.front();
  if (first == bundle::cli::kCompletionCommand) {
    OCIRUN_TRY(print(bundle::cli::completion_text(kProgram, names_for, words.subspan(1))));
    return 0;
  }
  const bool wants_help = first == "--help" || first == "-h" || first == "help";
  if (wants_help && (first != "help" || words.size() == 1)) {
    OCIRUN_TRY(print(overview()));
    return 0;
  }
  const std::string& name = wants_help ? words[1] : first;
  const Command* command = find_command(name);
  if (command == nullptr)
    return within(
        Result<int>(std::unexpected(bundle::cli::unknown_command(kProgram, name, meant_by(name)))),
        "pod");
  if (wants_help || bundle::cli::ask_for_help(*command, words.subspan(1))) {
    OCIRUN_TRY(print(bundle::cli::help_text(kProgram, *command)));
    return 0;
  }
  return within(run_command(*command, words.subspan(1), caller), "pod {}", command->name);
}

/// The words: the path of ocirun, the number of its options, these options, the command.
Result<int> run_words(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto count = words.size() < 2 ? std::nullopt : linux::number<std::size_t>(words[1]);
  if (!count || *count > words.size() - 2)
    return refuse("ocirun-pod is a part of ocirun: use `ocirun pod`");
  const std::span<const std::string> rest = std::span(words).subspan(2);
  const std::span<const std::string> options = rest.first(*count);
  return run_command(rest.subspan(*count), {.runtime = words[0],
                                            .options = {options.begin(), options.end()},
                                            .manager = take_manager_variables()});
}

}  // namespace
}  // namespace ocirun::pods::cli

int main(int argc, char** argv) {
  using namespace ocirun;
  ::signal(SIGPIPE, SIG_IGN);  // the reader of a pod's lines may end before the pod
  const auto status = linux::within_memory([&] { return pods::cli::run_words(argc, argv); });
  if (status) return *status;
  pods::cli::note(status.error().message());
  return 1;
}
