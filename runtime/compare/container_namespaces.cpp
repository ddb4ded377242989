#include "runtime/compare/container_namespaces.hpp"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {

Result<std::string> namespace_link(const linux::Procfs& procfs, int pid,
                                   linux::NamespaceKind kind) {
  TRY_ASSIGN(
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
  TRY_ASSIGN(const struct stat wanted, linux::sys::fstat(pinned.fd));
  return link.find(fmt::format("[{}]", wanted.st_ino)) != std::string_view::npos;
}

bool works_inside(linux::NamespaceKind kind) {
  return kind == linux::NamespaceKind::kIpc || kind == linux::NamespaceKind::kUts;
}

}  // namespace ocirun::runtime
