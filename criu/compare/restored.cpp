#include "criu/compare/restored.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "criu/compare/cgroups.hpp"
#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/files.hpp"
#include "criu/compare/limits.hpp"
#include "criu/compare/mounts.hpp"
#include "criu/compare/thread.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Whether a process may be in another namespace of this kind than init. Inside of a container, criu
// can restore further mount and network namespaces, but no further namespaces of other kinds.
bool may_nest(const bundle::Config& config, NamespaceKind kind) {
  return (kind == NamespaceKind::kMount || kind == NamespaceKind::kNetwork) &&
         has_in_bounding_set(config, CAP_SYS_ADMIN);
}

// Whether all threads have ended. Such a process has neither namespaces nor a seccomp filter any
// more. If only the first thread has ended, the state is Z too, but other threads live on.
bool is_zombie(std::string_view stat) {
  const auto parsed = linux::parse_process_stat(stat);
  return parsed && parsed->state == 'Z' && parsed->threads <= 1;
}

/// A walk over the stopped processes.
class ProcessWalk {
 public:
  explicit ProcessWalk(const Expectation& expected) : expected_(expected) {}

  Result<void> run(int init, const std::vector<int>& pids) {
    init_ = init;
    const bundle::Config& config = expected_.config;
    const cgroups::Record& cgroup = expected_.record.cgroup;
    OCIRUN_TRY(learn_own_namespaces());
    // The maps of init stand for all processes: compare_namespace() refuses a process in another
    // user namespace.
    OCIRUN_TRY(compare_id_maps(config, expected_.procfs, init));
    for (const int pid : pids) {
      auto compared = visit(pid);
      if (!compared) return within(std::move(compared), "process {}", pid);
    }
    if (config.namespaces.creates(NamespaceKind::kCgroup))
      OCIRUN_TRY(compare_cgroup_root(cgroup, expected_.procfs, init));
    const std::vector<ImageMount> mounts = all_mounts(expected_.images);
    OCIRUN_TRY(compare_mounts({.config = config,
                               .procfs = expected_.procfs,
                               .init = init,
                               .pids = in_mount_namespace_,
                               .nested = nested_,
                               .cgroup = cgroup.path,
                               .images = mounts}));
    std::vector<int> namespaces = nested_;
    namespaces.push_back(init);
    return compare_files({.config = config,
                          .procfs = expected_.procfs,
                          .streams = expected_.streams,
                          .pids = alive_,
                          .namespaces = namespaces});
  }

 private:
  Result<void> learn_own_namespaces() {
    for (std::size_t i = 0; i < linux::kNamespaceKinds.size(); ++i) {
      OCIRUN_TRY_ASSIGN(own_[i],
                        namespace_link(expected_.procfs, ::getpid(), linux::kNamespaceKinds[i]));
      OCIRUN_TRY_ASSIGN(inits_[i],
                        namespace_link(expected_.procfs, init_, linux::kNamespaceKinds[i]));
    }
    return {};
  }

  /// Compares a process and its threads.
  Result<void> visit(int pid) {
    OCIRUN_TRY_ASSIGN(const std::string stat, expected_.procfs.read(fmt::format("{}/stat", pid)));
    if (pid != init_ && is_zombie(stat)) return {};
    alive_.push_back(pid);
    for (std::size_t i = 0; i < linux::kNamespaceKinds.size(); ++i)
      OCIRUN_TRY(compare_namespace(pid, i));
    OCIRUN_TRY(compare_cgroups(expected_.record.cgroup, expected_.procfs, pid));
    if (expected_.config.process) {
      OCIRUN_TRY(compare_labels(expected_.procfs, pid, *expected_.config.process));
      OCIRUN_TRY(compare_limits(expected_.config, expected_.procfs, pid));
    }
    OCIRUN_TRY_ASSIGN(const UniqueFd tasks,
                      linux::sys::openat(expected_.procfs.fd(), fmt::format("{}/task", pid).c_str(),
                                         O_RDONLY | O_DIRECTORY));
    return linux::for_each_entry(tasks, [&](const char* name, unsigned char) -> Result<void> {
      OCIRUN_TRY_ASSIGN(const std::string status,
                        expected_.procfs.read(fmt::format("{}/task/{}/status", pid, name)));
      OCIRUN_TRY_ASSIGN(const ThreadStatus thread, parse_thread_status(status));
      OCIRUN_TRY(compare_thread(thread, expected_.config));
      const auto number = linux::number<int>(name);
      return expected_.config.process && number ? compare_scheduling(expected_.config, *number)
                                                : Result<void>{};
    });
  }

  Result<void> compare_namespace(int pid, std::size_t index) {
    const NamespaceKind kind = linux::kNamespaceKinds[index];
    OCIRUN_TRY_ASSIGN(const std::string found, namespace_link(expected_.procfs, pid, kind));
    const bundle::Config& config = expected_.config;
    const std::string_view name = linux::config_name(kind);
    if (config.namespaces.joins(kind)) {
      const auto pinned = std::ranges::find(expected_.pinned, kind, &linux::PinnedNamespace::kind);
      OCIRUN_TRY_ASSIGN(const bool is_named, names(found, *pinned));
      if (!is_named)
        return refuse("is not in the {} namespace {} that config.json names", name,
                      config.namespaces.find(kind)->path->string());
      return {};
    }
    if (config.namespaces.creates(kind)) {
      if (!own_[index].empty() && found == own_[index])
        return refuse("is in the {} namespace of the host: config.json asks for a new one", name);
      const bool is_nested = found != inits_[index];
      if (is_nested && !may_nest(config, kind))
        return refuse(
            "is in another {} namespace than the container's init, which a process without "
            "CAP_SYS_ADMIN cannot make",
            name);
      if (kind == NamespaceKind::kMount && !is_nested) in_mount_namespace_.push_back(pid);
      if (kind == NamespaceKind::kMount && is_nested && nested_links_.insert(found).second)
        nested_.push_back(pid);
      return {};
    }
    // If config.json names no namespace of this kind, `create` leaves the container in the
    // namespace of the host. Only the user namespace is compared.
    if (kind == NamespaceKind::kUser && found != own_[index])
      return refuse("is in a user namespace: config.json asks for none");
    return {};
  }

  const Expectation& expected_;
  int init_ = 0;
  std::vector<int> in_mount_namespace_;  // the processes in init's mount namespace
  std::vector<int> alive_;               // without zombies
  std::vector<int> nested_;              // a process of each other mount namespace
  std::set<std::string> nested_links_;
  std::array<std::string, linux::kNamespaceKinds.size()> own_, inits_;
};

}  // namespace

Result<void> compare_restored(const Expectation& expected, int init, const std::vector<int>& pids) {
  return ProcessWalk(expected).run(init, pids);
}

}  // namespace ocirun::runtime
