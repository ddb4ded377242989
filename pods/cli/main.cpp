// ocirun-pod: the program behind `ocirun pod`. Apart from the runtime, because it loads libraries
// that no other command needs. `ocirun` executes it as `ocirun-pod COUNT OPTION… COMMAND OPERAND…`,
// where COUNT is the number of the words before `pod`: the options for each call of the runtime.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bundle/json/nearest.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/printable.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kValidateOptions{
    Option{"profile", "knative",
           "check bundles instead: which clauses of the Knative runtime contract they meet"}};

constexpr std::array kCommands{
    Command{.name = "validate",
            .operands = "FILE... | --profile knative BUNDLE...",
            .summary = "check workload documents and tell all that is wrong with them",
            .options = kValidateOptions,
            .least_operands = 1,
            .run = run_validate},
};

std::string option_lines(const Command& command) {
  std::string text;
  for (const Option& option : command.options)
    text += fmt::format("      --{:<22} {}\n", fmt::format("{} {}", option.name, option.value),
                        option.help);
  return text;
}

std::string help_text() {
  std::string text =
      "usage: ocirun pod COMMAND OPERAND...\n\n"
      "Works on workload documents: OAM ContainerizedWorkload, App Container pod manifest, "
      "Knative\n"
      "service, Radius container resource; each in YAML or JSON. \"-\" is standard input.\n\n"
      "commands:\n";
  for (const Command& command : kCommands)
    text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  for (const Command& command : kCommands)
    if (!command.options.empty())
      text += fmt::format("\noptions of {}:\n{}", command.name, option_lines(command));
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
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view near = bundle::nearest(word, names);
  const std::string hint = near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
  return Error(0, fmt::format("unknown command \"{}\"{}; see ocirun pod --help", word, hint));
}

Result<int> run_command(const Command& command, std::span<const std::string> words) {
  TRY_ASSIGN(const Arguments arguments, Arguments::parse(words, command.options));
  if (arguments.operands().size() < command.least_operands)
    return refuse("{} is missing; see ocirun pod {} --help", command.operands, command.name);
  return command.run(arguments);
}

Result<int> run(std::span<const std::string> words) {
  if (words.empty()) return refuse("pod: a command is missing; see ocirun pod --help");
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    TRY(print(help_text()));
    return 0;
  }
  const auto* command = std::ranges::find(kCommands, first, &Command::name);
  if (command == kCommands.end())
    return within(Result<int>(std::unexpected(unknown_command(first))), "pod");
  for (const std::string& word : words.subspan(1)) {
    if (word == "--") break;
    if (word != "--help" && word != "-h") continue;
    TRY(print(help_text(*command)));
    return 0;
  }
  return within(run_command(*command, words.subspan(1)), fmt::format("pod {}", command->name));
}

Result<int> run_words(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto options = words.empty() ? std::nullopt : linux::number<std::size_t>(words.front());
  if (!options || *options > words.size() - 1)
    return refuse("ocirun-pod is a part of ocirun: use `ocirun pod`");
  return run(std::span(words).subspan(1 + *options));
}

}  // namespace

Result<void> print(std::string_view text) {
  return within(linux::write_all(Fd{STDOUT_FILENO}, text), "stdout");
}

}  // namespace ocirun::pods::cli

int main(int argc, char** argv) {
  using namespace ocirun;
  const auto status = linux::within_memory([&] { return pods::cli::run_words(argc, argv); });
  if (status) return *status;
  static_cast<void>(
      linux::write_all(Fd{STDERR_FILENO},
                       fmt::format("ocirun: {}\n", linux::in_one_line(status.error().message()))));
  return 1;
}
