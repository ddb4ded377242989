// ocirun-pod: the program behind `ocirun pod`. Apart from the runtime, because it loads libraries
// that no other command needs. `ocirun` executes it as `ocirun-pod OCIRUN COUNT OPTION… COMMAND
// OPERAND…`: the path of ocirun, and the number of the options before `pod`.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include "bundle/json/report.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/ordinary_user.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods::cli {
namespace {

const std::array kCommands{&kRun,  &kStart,  &kRestart, &kStatus, &kPorts, &kStats,  &kLogs,
                           &kExec, &kCopy,   &kKill,    &kWait,   &kStop,  &kDelete, &kEvents,
                           &kPull, &kImages, &kVolumes, &kPlan,   &kUnit,  &kExport, &kValidate};

std::string option_lines(const Command& command) {
  std::string text;
  for (const Option& option : command.options) {
    const std::string letter = option.letter == 0 ? "   " : fmt::format("-{},", option.letter);
    const std::string_view blank = option.value.empty() || option.value.front() == '[' ? "" : " ";
    text += fmt::format("  {} --{:<22} {}\n", letter,
                        fmt::format("{}{}{}", option.name, blank, option.value), option.help);
  }
  return text;
}

std::string help_text() {
  std::string text =
      "usage: ocirun pod COMMAND OPERAND...\n\n"
      "Works on workload documents: OAM ContainerizedWorkload, App Container pod manifest, "
      "Knative\n"
      "Service, Kubernetes Pod, Deployment or StatefulSet, Radius container resource; each in "
      "YAML\n"
      "or JSON. \"-\" is standard input.\n\n"
      "commands:\n";
  for (const Command* command : kCommands)
    text += fmt::format("  {:<10}{}\n", command->name, command->summary);
  for (const Command* command : kCommands)
    if (!command->options.empty())
      text += fmt::format("\noptions of {}:\n{}", command->name, option_lines(*command));
  return text;
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("usage: ocirun pod {} {}\n\n{}\n", command.name, command.operands,
                                 command.summary);
  if (!command.options.empty()) text += "\noptions:\n" + option_lines(command);
  return text;
}

Error unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) names.push_back(command->name);
  const std::string_view near = bundle::nearest(word, names);
  const std::string hint = near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
  return Error(0, fmt::format("unknown command \"{}\"{}; see ocirun pod --help", word, hint));
}

Result<int> run_command(const Command& command, std::span<const std::string> words, Caller caller) {
  TRY_ASSIGN(Arguments arguments, Arguments::parse(words, command.options, command.takes_program));
  if (arguments.operands().size() < command.least_operands)
    return refuse("{} is missing; see ocirun pod {} --help", command.operands, command.name);
  if (arguments.operands().size() > command.most_operands)
    return refuse("\"{}\" is one operand too many: {} takes {}",
                  arguments.operands()[command.most_operands], command.name, command.operands);
  // Must be known before the process is root of a user namespace.
  const bool uses_data =
      std::ranges::find(command.options, kDataOption.name, &Option::name) != command.options.end();
  if (uses_data && !arguments.has(kDataOption.name)) {
    TRY_ASSIGN(const HostPath data, default_data_directory());
    arguments.set_default(kDataOption.name, data.string());
  }
  caller.is_ordinary = ::geteuid() != 0;
  if (command.needs_root && caller.is_ordinary)
    return run_as_root_of_namespace(command, arguments, caller);
  return command.run(arguments, caller);
}

Result<int> run_command(std::span<const std::string> words, const Caller& caller) {
  if (words.empty()) return refuse("pod: a command is missing; see ocirun pod --help");
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    TRY(print(help_text()));
    return 0;
  }
  const auto found = std::ranges::find(kCommands, first, &Command::name);
  if (found == kCommands.end())
    return within(Result<int>(std::unexpected(unknown_command(first))), "pod");
  const Command& command = **found;
  for (const std::string& word : words.subspan(1)) {
    if (word == "--" || (command.takes_program && !word.starts_with('-'))) break;
    if (word != "--help" && word != "-h") continue;
    TRY(print(help_text(command)));
    return 0;
  }
  return within(run_command(command, words.subspan(1), caller), "pod {}", command.name);
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
  static_cast<void>(
      linux::write_all(Fd{STDERR_FILENO},
                       fmt::format("ocirun: {}\n", linux::in_one_line(status.error().message()))));
  return 1;
}
