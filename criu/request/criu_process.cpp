#include "criu/request/criu_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "bundle/documents/state.hpp"
#include "criu/compare/container_namespaces.hpp"
#include "criu/dump/directory.hpp"
#include "criu/request/options_file.hpp"
#include "criu/request/outside.hpp"
#include "criu/request/prepared_sources.hpp"
#include "criu/request/read_only_host.hpp"
#include "criu/request/shown_images.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/rootfs.hpp"
#include "linux/process/scheduling.hpp"
#include "runtime/init/process.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

constexpr std::size_t kMaxDescriptors = 64 * 1024;

// Opens the same directory again in the mount namespace of this process, and replaces the
// descriptor.
Result<void> open_again(const HostPath& path, UniqueFd& directory) {
  OCIRUN_TRY_ASSIGN(UniqueFd again,
                    linux::sys::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(again, directory));
  if (!is_same)
    return refuse("{}: was replaced during the restore: try again when nobody changes this path",
                  path.string());
  directory = std::move(again);
  return {};
}

// CRIU gets joined network and pid namespaces as open descriptors. CRIU itself runs in joined ipc
// and uts namespaces, so these namespaces need no option. CRIU opens joined namespaces of other
// kinds by their paths.
std::vector<std::string> words_of_namespaces(const RestoreInput& input) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < input.pinned.size(); ++i) {
    const NamespaceKind kind = input.pinned[i].kind;
    if (kind == NamespaceKind::kNetwork || kind == NamespaceKind::kPid)
      words.push_back(fmt::format("inherit={}\n{}", namespace_key(kind),
                                  linux::kFirstPassed + static_cast<int>(i)));
    else if (!works_inside(kind))
      words.push_back(fmt::format("join={}\n{}", linux::proc_name(kind),
                                  input.config.namespaces.find(kind)->path->string()));
  }
  return words;
}

Result<bundle::StandardStreams> read_streams(Fd images) {
  OCIRUN_TRY_ASSIGN(const auto text, read_if_there(images, "descriptors.json", kMaxDescriptors));
  return text ? bundle::parse_descriptors(*text) : bundle::StandardStreams{};
}

// A restore writes to the root file system, to the sources of binds, and to --work-path. With
// --auto-dedup, a restore also writes to the images: CRIU removes pages that CRIU has read.
Result<void> make_host_read_only(const RestoreInput& input, const std::string& program) {
  ReadOnlyHost host;
  OCIRUN_TRY(host.except(input.config.root_path, linux::Recursion::kTree));
  if (input.settings.removes_pages()) {
    OCIRUN_TRY_ASSIGN(const auto images, paths_of_images(input.images));
    for (const HostPath& path : images) OCIRUN_TRY(host.except(path, linux::Recursion::kTree));
  }
  OCIRUN_TRY(host.except(input.settings.work, linux::Recursion::kTree));
  OCIRUN_TRY_ASSIGN(const auto needed,
                    paths_of_criu(input.config, input.settings, input.images, program));
  return within(host.close(input.procfs, needed), "make the host read-only for criu");
}

Result<void> mount_for_criu(const RestoreInput& input, const std::string& program) {
  PreparedSources sources;
  if (!input.prepared.empty()) {
    OCIRUN_TRY_ASSIGN(sources, PreparedSources::open(input.outside, input.config, input.procfs));
  }
  if (input.has_read_only_host) {
    OCIRUN_TRY(make_host_read_only(input, program));
    // CRIU calls iptables, and iptables locks a file. The default file is in /run, which is
    // read-only now. For a user namespace, CRIU itself mounts a tmpfs on /run.
    if (!input.config.namespaces.contains(NamespaceKind::kUser))
      ::setenv("XTABLES_LOCKFILE", (input.prepared + "/xtables.lock").c_str(), 1);
  } else {
    OCIRUN_TRY(linux::attach_rootfs(input.config.root_path, UniqueFd(), input.procfs,
                                    linux::Propagation::kPrivate));
  }
  return input.prepared.empty() ? Result<void>{} : sources.attach(input.prepared);
}

}  // namespace

Result<std::vector<std::string>> paths_of_criu(const bundle::Config& config,
                                               const CriuSettings& settings, Fd images,
                                               const std::string& program) {
  std::vector<std::string> paths{program, config.root_path.string(), settings.work.string()};
  OCIRUN_TRY_ASSIGN(const auto directories, paths_of_images(images));
  for (const HostPath& path : directories) paths.push_back(path.string());
  OCIRUN_TRY_ASSIGN(const std::string file, config_file_of(config));
  if (!file.empty()) paths.push_back(file);
  for (const linux::Namespace& entry : config.namespaces.entries())
    if (entry.path) paths.push_back(entry.path->string());
  return paths;
}

Result<std::vector<std::string>> words_for_restore(const RestoreInput& input,
                                                   std::string_view log_name) {
  std::vector<std::string> words{"restore",
                                 fmt::format("log-file={}", log_name),
                                 "log-level=4",
                                 "notify=1",
                                 "sibling=1",
                                 "evasive-devices=1",
                                 "root=" + input.config.root_path.string()};
  if (!input.cgroup.empty()) words.push_back("cgroup-root=\n" + input.cgroup);
  if (input.config.process && input.config.process->terminal)
    words.emplace_back("orphan-terminal=1");
  OCIRUN_TRY_ASSIGN(const auto streams, read_streams(input.images));
  OCIRUN_TRY_ASSIGN(const std::string file, config_file_of(input.config));
  if (!file.empty()) words.push_back("config=" + file);
  for (const auto& more :
       {words_of_settings(input.settings, input.ignores_cgroups),
        words_of_mounts_for_restore(input.outside, input.prepared), words_of_namespaces(input),
        words_of_streams_for_restore(streams), input.settings.words})
    words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result<void> join_cgroup(const cgroups::Cgroup::JoinHandles& handles, int pid) {
  const std::string text = fmt::to_string(pid);
  for (const UniqueFd& tasks : handles.tasks) OCIRUN_TRY(linux::sys::write_once(tasks, text));
  if (!handles.unified_directory) return {};
  OCIRUN_TRY_ASSIGN(
      const UniqueFd processes,
      linux::sys::openat(handles.unified_directory, "cgroup.procs", O_WRONLY | O_NOFOLLOW));
  return linux::sys::write_once(processes, text);
}

Result<void> prepare_criu(const RestoreInput& input, linux::CriuLaunch& launch) {
  OCIRUN_TRY(enter_for_criu(input.pinned));
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace for criu");
  // kSlave, because a bind with rslave or rshared receives the mount events of the host through the
  // source of the bind.
  OCIRUN_TRY(linux::isolate_mount_tree(linux::Propagation::kSlave));
  OCIRUN_TRY(mount_for_criu(input, launch.program));
  OCIRUN_TRY(open_again(input.settings.images, input.images));
  OCIRUN_TRY(open_again(input.settings.work, input.work));
  if (input.config.namespaces.creates(NamespaceKind::kUser)) {
    OCIRUN_TRY_ASSIGN(input.images,
                      show_images({.place = input.prepared,
                                   .images = input.images,
                                   .id_map = input.config.id_map,
                                   .procfs = input.procfs,
                                   .access = input.settings.removes_pages() ? ImageAccess::kWrite
                                                                            : ImageAccess::kRead}));
  }
  launch.images = input.images;
  launch.work = input.work;
  if (input.ignores_cgroups) OCIRUN_TRY(join_cgroup(input.join, 0));
  // CRIU makes no cgroup namespace if CRIU ignores cgroups.
  if (input.ignores_cgroups && input.config.namespaces.creates(NamespaceKind::kCgroup) &&
      ::unshare(CLONE_NEWCGROUP) != 0)
    return fail(errno, "make the cgroup namespace");
  return take_what_is_inherited(input.config, input.procfs, input.has_new_keyring);
}

Result<void> take_what_is_inherited(const bundle::Config& config, const linux::Procfs& procfs,
                                    bool has_new_keyring) {
  OCIRUN_TRY(linux::reset_cpu_affinity());
  if (config.memory_policy)
    OCIRUN_TRY(within(linux::set_memory_policy(*config.memory_policy), "/linux/memoryPolicy"));
  if (!config.process) return {};
  const bundle::Process& process = *config.process;
  linux::ProcfsOnDemand on_demand(procfs);
  if (has_new_keyring) OCIRUN_TRY(join_keyring(process, on_demand));
  if (process.oom_score_adj)
    OCIRUN_TRY(within(procfs.write("self/oom_score_adj", fmt::format("{}", *process.oom_score_adj)),
                      "/process/oomScoreAdj"));
  if (process.io_priority)
    OCIRUN_TRY(within(linux::set_io_priority(*process.io_priority), "/process/ioPriority"));
  if (process.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno, "set no_new_privs for criu");
  return {};
}

}  // namespace ocirun::runtime
