#include "shim/start/surroundings.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::shim {
namespace {

constexpr char kScoreFile[] = "self/oom_score_adj";
constexpr int kHighestScore = 1000;

Result<void> enter(const cgroups::Directory& cgroup) {
  return within(cgroup.write("cgroup.procs", fmt::format("{}", ::getpid())), "join the cgroup {}",
                cgroup.path());
}

/// Moves this process into the cgroup `path` of each hierarchy that has such a cgroup. Returns the
/// number of these hierarchies.
Result<int> enter_all(const cgroups::Layout& layout, const std::string& path) {
  int entered = 0;
  for (const cgroups::Hierarchy& hierarchy : layout.hierarchies) {
    const auto cgroup = cgroups::Directory::open(hierarchy.mount_point.string() + path);
    if (is_missing(cgroup)) continue;
    if (!cgroup) return std::unexpected(cgroup.error());
    OCIRUN_TRY(enter(*cgroup));
    ++entered;
  }
  return entered;
}

}  // namespace

Result<void> raise_oom_score() {
  OCIRUN_TRY_ASSIGN(const auto procfs, linux::Procfs::of_host());
  OCIRUN_TRY_ASSIGN(std::string text, procfs.read_value(kScoreFile));
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  const auto score = linux::number<int>(line);
  if (!score) return refuse("oom_score_adj of this process: \"{}\" is no number", line);
  if (*score >= kHighestScore) return {};
  return procfs.write(kScoreFile, fmt::format("{}", *score + 1));
}

Result<void> join_shim_cgroup(const std::string& path) {
  if (path.empty()) return {};
  OCIRUN_TRY_ASSIGN(const std::string normal, cgroups::normal_path(path, "ShimCgroup"));
  OCIRUN_TRY_ASSIGN(const auto procfs, linux::Procfs::of_host());
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, cgroups::read_layout(procfs));
  OCIRUN_TRY_ASSIGN(const int entered, enter_all(layout, normal));
  if (entered > 0) return {};
  return refuse(
      "ShimCgroup \"{}\": no hierarchy has this cgroup: make it, or remove ShimCgroup from the "
      "runtime's options",
      path);
}

Result<void> separate_cores() {
  constexpr int kOfTheProcess = 1;  // PR_SCHED_CORE_SCOPE_THREAD_GROUP
  const char* const value = std::getenv("SCHED_CORE");
  if (value == nullptr || *value == '\0') return {};
  if (::prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, kOfTheProcess, 0) == 0) return {};
  return fail(
      errno,
      "SCHED_CORE: core scheduling needs CONFIG_SCHED_CORE of the kernel and processors with "
      "several threads for each core; without these, remove SCHED_CORE from the environment "
      "of shims in containerd's configuration");
}

}  // namespace ocirun::shim
