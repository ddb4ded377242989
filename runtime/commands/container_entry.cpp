#include "runtime/commands/container_entry.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "linux/base/syscalls.hpp"
#include "runtime/init/join.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

constexpr std::array kEntered{NamespaceKind::kUser, NamespaceKind::kMount};

}  // namespace

Result<ContainerEntry> ContainerEntry::find(const Container& container,
                                            const bundle::Config& config) {
  OCIRUN_TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(ContainerNamespaces namespaces,
                    pin_container_namespaces(container.init(), config, kEntered));
  ContainerEntry entry(config, std::move(procfs), std::move(namespaces));
  OCIRUN_TRY(entry.check_user_namespace());
  return entry;
}

Result<void> ContainerEntry::check_user_namespace() const {
  constexpr const char* kLeft =
      "the container's first process is not in the user namespace that config.json asks for, so "
      "that the kernel would not protect the host's files";
  OCIRUN_TRY_ASSIGN(const UniqueFd own,
                    linux::open_namespace(procfs_.fd(), ::getpid(), NamespaceKind::kUser));
  const Fd user = user_namespace();
  if (user.value >= 0) {
    OCIRUN_TRY_ASSIGN(const bool asked,
                      within(linux::is_user_namespace_asked(config_.namespaces, user, own),
                             "find the user namespace that config.json asks for"));
    if (!asked) return refuse(kLeft);
  }
  OCIRUN_TRY_ASSIGN(const UniqueFd owner,
                    within(linux::owning_user_namespace(opened(NamespaceKind::kMount)), kLeft));
  OCIRUN_TRY_ASSIGN(const bool is_owned,
                    linux::sys::is_same_file(owner, user.value < 0 ? Fd(own) : user));
  return is_owned ? Result<void>{} : refuse(kLeft);
}

Fd ContainerEntry::opened(NamespaceKind kind) const {
  const auto& pinned = namespaces_.pinned;
  const auto found = std::ranges::find(pinned, kind, &linux::PinnedNamespace::kind);
  return found == pinned.end() ? Fd{} : Fd(found->fd);
}

Result<std::uint64_t> ContainerEntry::mount_namespace() const {
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(opened(NamespaceKind::kMount)));
  return info.st_ino;
}

std::vector<Fd> ContainerEntry::descriptors() const {
  std::vector<Fd> list = namespaces_.descriptors();
  list.push_back(procfs_.fd());
  return list;
}

Result<linux::SafeDir> ContainerEntry::enter() const {
  OCIRUN_TRY(enter_container(namespaces_, config_));
  ::umask(0);
  return linux::SafeDir::open_root(HostPath("/"));
}

}  // namespace ocirun::runtime
