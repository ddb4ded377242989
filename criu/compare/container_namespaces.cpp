#include "criu/compare/container_namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/programs/child_call.hpp"

namespace ocirun::runtime {
namespace {

bool is_same(std::vector<linux::IdMapping> a, std::vector<linux::IdMapping> b) {
  std::ranges::sort(a, {}, &linux::IdMapping::container_id);
  std::ranges::sort(b, {}, &linux::IdMapping::container_id);
  return a == b;
}

}  // namespace

Result<std::string> namespace_link(const linux::Procfs& procfs, int pid,
                                   linux::NamespaceKind kind) {
  OCIRUN_TRY_ASSIGN(
      const UniqueFd directory,
      linux::sys::openat(procfs.fd(), fmt::format("{}/ns", pid).c_str(), O_PATH | O_DIRECTORY));
  auto link = linux::sys::readlinkat(directory, std::string(linux::proc_name(kind)).c_str());
  if (!link && link.error().number() == ENOENT) return std::string();
  return link;
}

Result<void> enter_container_namespace(Fd file, linux::NamespaceKind kind) {
  if (::setns(file.value, static_cast<int>(linux::clone_flag(kind))) == 0) return {};
  return fail(errno, "enter the container's {} namespace", linux::config_name(kind));
}

Result<bool> names(std::string_view link, const linux::PinnedNamespace& pinned) {
  OCIRUN_TRY_ASSIGN(const struct stat wanted, linux::sys::fstat(pinned.fd));
  return link.find(fmt::format("[{}]", wanted.st_ino)) != std::string_view::npos;
}

bool works_inside(linux::NamespaceKind kind) {
  return kind == linux::NamespaceKind::kIpc || kind == linux::NamespaceKind::kUts;
}

Result<void> in_child(std::string_view doing, const std::function<Result<void>()>& work) {
  return linux::call_in_child(
      [&] {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        return work();
      },
      doing);
}

bool is_same_map(const linux::IdMap& a, const linux::IdMap& b) {
  return is_same(a.uids, b.uids) && is_same(a.gids, b.gids);
}

Result<void> compare_id_maps(const bundle::Config& config, const linux::Procfs& procfs, int init) {
  if (!config.namespaces.creates(linux::NamespaceKind::kUser)) return {};
  const Fd top = procfs.fd();
  OCIRUN_TRY_ASSIGN(const auto uids, linux::read_id_map(top, fmt::format("{}/uid_map", init)));
  OCIRUN_TRY_ASSIGN(const auto gids, linux::read_id_map(top, fmt::format("{}/gid_map", init)));
  if (!is_same(uids, config.id_map.uids))
    return refuse("the user namespace maps other user ids than /linux/uidMappings");
  if (!is_same(gids, config.id_map.gids))
    return refuse("the user namespace maps other group ids than /linux/gidMappings");
  OCIRUN_TRY_ASSIGN(const std::string setgroups, procfs.read(fmt::format("{}/setgroups", init)));
  if (setgroups.starts_with("allow")) return {};
  return refuse("setgroups(2) is denied in the user namespace: create allows it");
}

}  // namespace ocirun::runtime
