#include "pods/run/user_namespace.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/programs/child_call.hpp"
#include "linux/sealed/executable.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/run/sandbox/holder.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using linux::IdKind;

/// A map that differs from the last one would give the files of the store other owners. So it is an
/// error if lent ids cannot be mapped now.
Result<std::vector<linux::IdMapping>> map_of_user(IdKind kind) {
  const std::uint32_t own_id = kind == IdKind::kUser ? ::geteuid() : ::getegid();
  std::vector<linux::IdMapping> map = linux::widest_own_map(kind, own_id);
  if (map.size() > 1 || linux::own_subordinate_ids(kind).empty()) return map;
  const std::string_view file = kind == IdKind::kUser ? "/etc/subuid" : "/etc/subgid";
  const std::string_view program = linux::map_program_name(kind);
  if (linux::find_map_program(kind).empty())
    return refuse(
        "{} is not installed, and only {} gives you the ids that {} lends you (Debian: apt-get "
        "install uidmap)",
        program, program, file);
  return refuse(
      "the ids that {} lends you cannot be had: {} has no privileges (install it again), or your "
      "own id is among them",
      file, program);
}

Result<void> enter(Fd user_namespace) {
  ignore(linux::executable_directory());  // remembers the path while the kernel knows it
  if (::setns(user_namespace.value, CLONE_NEWUSER) != 0)
    return fail(errno, "enter the user namespace");
  return enter_own_mount_namespace();
}

/// Opens the user namespace of a process. Returns nothing unless the calling user has made it in
/// the caller's user namespace.
UniqueFd own_namespace_of(int pid) {
  auto opened = sys::open(namespace_path(pid, "user").c_str(), O_RDONLY);
  const auto current = sys::open(namespace_path(0, "user").c_str(), O_RDONLY);
  uid_t owner = 0;
  if (!opened || !current || ::ioctl(opened->get(), NS_GET_OWNER_UID, &owner) != 0 ||
      owner != ::geteuid())
    return {};
  const UniqueFd parent(::ioctl(opened->get(), NS_GET_PARENT));
  if (!parent || !sys::is_same_file(parent, *current).value_or(false)) return {};
  return *std::move(opened);
}

/// Opens the user namespace of a pod, if a process of the pod runs.
UniqueFd namespace_of(const PodRecord& record) {
  for (const linux::ProcessIdentity* process : {&record.supervisor, &record.holder}) {
    if (process->pid == 0) continue;
    UniqueFd found = own_namespace_of(process->pid);
    // Checked after opening: the pid was not reused until then.
    if (found && still_runs(record, *process)) return found;
  }
  const auto boot = linux::read_boot_id();
  if (!boot || *boot != record.boot_id) return {};
  for (const ContainerRecord& container : record.containers)
    if (container.pid != 0)
      if (UniqueFd found = own_namespace_of(container.pid)) return found;
  return {};
}

}  // namespace

Result<void> become_root_of_own_namespace() {
  auto made = [&]() -> Result<void> {
    linux::IdMap map;
    OCIRUN_TRY_ASSIGN(map.uids, map_of_user(IdKind::kUser));
    OCIRUN_TRY_ASSIGN(map.gids, map_of_user(IdKind::kGroup));
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    auto user_namespace = linux::make_user_namespace(procfs.fd(), map);
    if (!user_namespace) {
      const int number = user_namespace.error().number();
      const std::string why = linux::why_namespaces_are_refused(number, CLONE_NEWUSER);
      return std::unexpected(why.empty() ? user_namespace.error()
                                         : Error(user_namespace.error()).within(why));
    }
    return enter(*user_namespace);
  }();
  return within(std::move(made), "make a user namespace for the pods of an ordinary user");
}

Result<void> become_root_of_namespace_of(const PodRecord& record) {
  const UniqueFd found = namespace_of(record);
  return found ? enter(found) : become_root_of_own_namespace();
}

Result<void> as_root_of(const PodRecord& record, const std::function<Result<void>()>& act) {
  if (::geteuid() == 0) return act();
  const auto act_as_root = [&]() -> Result<void> {
    OCIRUN_TRY(become_root_of_namespace_of(record));
    return act();
  };
  return linux::call_in_child(act_as_root, "work on the pod");
}

}  // namespace ocirun::pods
