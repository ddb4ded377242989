#include <gnu/libc-version.h>

#include "bundle/config/oci_version.hpp"
#include "bundle/json/document.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {
namespace {

constexpr std::size_t kColumn = 32;  // where the explanations begin

std::string option_line(const Option& option) {
  std::string names = option.letter != 0 ? fmt::format("-{}, --{}", option.letter, option.name)
                                         : fmt::format("    --{}", option.name);
  if (!option.value.empty()) names += fmt::format(" {}", option.value);
  if (names.size() > kColumn) names += fmt::format("\n  {:{}}", "", kColumn);
  return fmt::format("  {:{}} {}{}\n", names, kColumn, option.help,
                     option.times == Times::kMany ? "; repeatable" : "");
}

}  // namespace

std::string help_text() {
  std::string text =
      "ocirun runs OCI containers from bundles: a config.json and a root filesystem.\n\n"
      "usage: ocirun [OPTION...] COMMAND [OPTION...] [OPERAND...]\n\ncommands:\n";
  for (const Command& command : all_commands())
    text += fmt::format("  {:{}} {}\n", fmt::format("{} {}", command.name, command.operands),
                        kColumn, command.summary);
  text += "\noptions before the command:\n";
  for (const Option& option : global_options()) text += option_line(option);
  return text +
         "\nocirun COMMAND --help tells the options of a command; ocirun(8) tells the rest.\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format(
      "usage: ocirun {}{}{}{}\n\n{}\n", command.name, command.options.empty() ? "" : " [OPTION...]",
      command.operands.empty() ? "" : " ", command.operands, command.summary);
  if (!command.options.empty()) text += "\noptions:\n";
  for (const Option& option : command.options) text += option_line(option);
  return text;
}

// dockerd reads every line that has the word "version"; go-runc wants commit and spec lines.
std::string version_text() {
  return fmt::format(
      "ocirun version {}\ncommit: {}\nspec: {}\narchitecture: {}\n"
      "libseccomp: {}\nnlohmann_json: {}\nfmt: {}.{}.{}\nglibc: {}\n",
      OCIRUN_VERSION, OCIRUN_COMMIT, bundle::kNewestVersion, bundle::architecture_of_build(),
      linux::libseccomp_version(), bundle::nlohmann_json_version(), FMT_VERSION / 10000,
      FMT_VERSION / 100 % 100, FMT_VERSION % 100, gnu_get_libc_version());
}

}  // namespace ocirun::runtime::cli
