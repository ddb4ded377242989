#include <gnu/libc-version.h>

#include "bundle/cli/help.hpp"
#include "bundle/config/oci_version.hpp"
#include "bundle/json/document.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {
std::string help_text() {
  return fmt::format(
      "ocirun runs OCI containers from bundles: a config.json and a root filesystem.\n\n"
      "usage: ocirun [OPTION...] COMMAND [OPTION...] [OPERAND...]\n\ncommands:\n{}"
      "\noptions before the command:\n{}"
      "\nocirun COMMAND --help tells the options of a command; ocirun(8) tells the rest.\n",
      bundle::cli::command_lines(program()), bundle::cli::option_lines(program().options));
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
