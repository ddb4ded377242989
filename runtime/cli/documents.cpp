#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bundle/config/config.hpp"
#include "bundle/documents/features.hpp"
#include "bundle/json/document.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/subordinate_ids.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/completion.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/parent/cgroup_choice.hpp"

namespace ocirun::runtime::cli {
namespace {

bool is_pure_cgroup_v2() {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  const auto layout = procfs ? cgroups::read_layout(*procfs) : Result<cgroups::Layout>();
  return layout && layout->pure_v2();
}

}  // namespace

Result<int> run_spec(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  if (const auto file = arguments.value("upgrade")) {
    OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(*file), "--upgrade"));
    OCIRUN_TRY_ASSIGN(const std::string upgraded, within(bundle::upgrade_document(text), *file));
    OCIRUN_TRY(print(upgraded));
    return 0;
  }
  const std::string directory = arguments.value("bundle").value_or(".");
  const auto opened = linux::sys::open(directory.c_str(), O_PATH | O_DIRECTORY);
  if (!opened && opened.error().number() == ENOENT)
    return refuse("the directory {} does not exist", directory);
  const std::string path = directory + "/config.json";
  if (linux::sys::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW))
    return refuse("{} exists: remove it first, it is not overwritten", path);
  std::optional<linux::IdMap> own_map;
  if (arguments.has("rootless"))
    own_map = {.uids = linux::widest_own_map(linux::IdKind::kUser, ::geteuid()),
               .gids = linux::widest_own_map(linux::IdKind::kGroup, ::getegid())};
  OCIRUN_TRY(linux::replace_file(HostPath(path),
                                 bundle::default_config_text(own_map, is_pure_cgroup_v2()),
                                 0644));  // replace_file() ignores the umask
  return 0;
}

Result<int> run_features(const Invocation& invocation) {
  const auto can_checkpoint = added_commands().can_checkpoint;
  const bool has_criu = can_checkpoint != nullptr && can_checkpoint(invocation.options);
  OCIRUN_TRY(
      print(bundle::features_text(has_criu ? bundle::Criu::kIsFound : bundle::Criu::kIsMissing)));
  return 0;
}

Result<int> run_validate(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(
      const HostPath directory,
      linux::absolute_path(arguments.operands().empty() ? arguments.value("bundle").value_or(".")
                                                        : arguments.operands().front()));
  OCIRUN_TRY_ASSIGN(const std::string text, bundle::read_config_file(directory));
  const bundle::Parsed parsed = bundle::parse_config(text, directory, bundle::UnknownNames::kTold);
  std::string report;
  for (const std::string& problem : parsed.problems) report += fmt::format("error: {}\n", problem);
  for (const std::string& refusal : parsed.refusals)
    report += fmt::format("create would refuse: {}\n", refusal);
  for (const std::string& warning : parsed.warnings)
    report += fmt::format("warning: {}\n", warning);
  if (parsed.config)
    if (const auto doubt =
            doubt_cgroups_path(parsed.config->cgroups_path, invocation.options.cgroup_manager))
      report += fmt::format("warning: {}\n", *doubt);
  if (parsed.config && parsed.config->process && !parsed.config->process->user.umask)
    report +=
        "note: /process/user/umask: absent, so the process keeps the umask of whoever calls create "
        "or run; runc and crun set 022 (18 as the number in JSON)\n";
  if (parsed.problems.empty()) report += "config.json is valid\n";
  OCIRUN_TRY(print(report));
  if (parsed.problems.empty()) return 0;
  const std::size_t listed = parsed.problems.size();
  if (listed == bundle::Report::kMaxListed)
    return refuse("config.json has {} errors or more: mend these first", listed);
  return refuse("config.json has {} error{}", listed, listed == 1 ? "" : "s");
}

Result<int> run_completion(const Invocation& invocation) {
  const auto text = linux::value_of(kShells, invocation.arguments.operands().front());
  if (!text) return refuse("must be bash, zsh or fish");
  OCIRUN_TRY(print(**text));
  return 0;
}

}  // namespace ocirun::runtime::cli
