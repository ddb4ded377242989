#include "pods/run/container_root.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/sandbox/holder.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// The ids of the process behind the directory `process` of procfs.
Result<linux::IdMap> ids_of(Fd process) {
  OCIRUN_TRY_ASSIGN(const UniqueFd own, sys::open(namespace_path(0, "user").c_str(), O_RDONLY));
  OCIRUN_TRY_ASSIGN(const UniqueFd other, sys::openat(process, "ns/user", O_RDONLY));
  OCIRUN_TRY_ASSIGN(const bool is_same, sys::is_same_file(own, other));
  linux::IdMap map;
  if (is_same) return map;
  OCIRUN_TRY_ASSIGN(map.uids, linux::read_id_map(process, "uid_map"));
  OCIRUN_TRY_ASSIGN(map.gids, linux::read_id_map(process, "gid_map"));
  return map;
}

}  // namespace

Result<ContainerRoot> open_container_root(const PodRecord& record,
                                          const ContainerRecord& container) {
  auto opened = [&]() -> Result<ContainerRoot> {
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    // The descriptor keeps referring to the same process, even if the pid is reused.
    OCIRUN_TRY_ASSIGN(const UniqueFd process,
                      procfs.open_file(fmt::format("{}", container.pid), O_RDONLY | O_DIRECTORY));
    OCIRUN_TRY_ASSIGN(UniqueFd root, sys::openat(process, "root", O_PATH | O_DIRECTORY));
    OCIRUN_TRY_ASSIGN(linux::IdMap ids, ids_of(process));
    // The runtime compares the start time of the process that has the pid now.
    OCIRUN_TRY_ASSIGN(const int pid, Runtime(record.runtime).find_pid(container.id));
    if (pid != container.pid) return refuse("it was started again meanwhile");
    // The pid is still that of the process behind `process` if that process has not ended.
    OCIRUN_TRY(within(sys::openat(process, "root", O_PATH | O_DIRECTORY), "its program has ended"));
    return ContainerRoot{.directory = linux::SafeDir(std::move(root)), .ids = std::move(ids)};
  }();
  return within(std::move(opened), "container \"{}\"", container.name);
}

Result<OwnerIds> owner_in(const ContainerRoot& root, const OwnerIds& inside) {
  if (root.ids.empty()) return inside;
  const auto uid = root.ids.host_uid(inside.uid);
  const auto gid = root.ids.host_gid(inside.gid);
  if (!uid || !gid)
    return refuse("the user namespace of the container has no user {} or no group {}",
                  inside.uid.value(), inside.gid.value());
  OwnerIds outside;
  OCIRUN_TRY_ASSIGN(outside.uid, Uid::make(*uid));
  OCIRUN_TRY_ASSIGN(outside.gid, Gid::make(*gid));
  return outside;
}

}  // namespace ocirun::pods
