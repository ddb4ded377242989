#include "criu/compare/files.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <unordered_set>
#include <vector>

#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/thread.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::runtime {
namespace {

/// A kind of descriptor that the kernel gives only to a process with a capability.
struct Privilege {
  std::string_view name;
  std::array<unsigned, 2> capabilities;  // one capability is enough
  std::string_view capability_names;
};
constexpr Privilege kRawSocket{"a raw or packet socket", {CAP_NET_RAW, CAP_NET_RAW}, "CAP_NET_RAW"};
constexpr Privilege kMarkedSocket{
    "a socket with a mark", {CAP_NET_ADMIN, CAP_NET_RAW}, "CAP_NET_ADMIN"};
constexpr Privilege kTunDevice{"a tun device", {CAP_NET_ADMIN, CAP_NET_ADMIN}, "CAP_NET_ADMIN"};
constexpr Privilege kFanotify{"a fanotify group", {CAP_SYS_ADMIN, CAP_SYS_ADMIN}, "CAP_SYS_ADMIN"};
constexpr Privilege kBpfMap{"a map of BPF", {CAP_BPF, CAP_SYS_ADMIN}, "CAP_BPF"};

Result<int> option_of(Fd socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket.value, SOL_SOCKET, option, &value, &size) != 0)
    return linux::sys::last_error("ask a socket");
  return value;
}

Result<const Privilege*> privilege_of(Fd socket) {
  OCIRUN_TRY_ASSIGN(const int domain, option_of(socket, SO_DOMAIN));
  OCIRUN_TRY_ASSIGN(const int type, option_of(socket, SO_TYPE));
  OCIRUN_TRY_ASSIGN(const int mark, option_of(socket, SO_MARK));
  const bool is_raw = type == SOCK_RAW && (domain == AF_INET || domain == AF_INET6);
  if (is_raw || domain == AF_PACKET) return &kRawSocket;
  return mark != 0 ? &kMarkedSocket : nullptr;
}

// Whether `link` names memory, which the kernel keeps in a file on no mount: memory of
// memfd_create(2), shmget(2) or io_setup(2), shared anonymous memory, or huge pages.
bool is_memory(std::string_view link) {
  return link.starts_with("/memfd:") || link.starts_with("/SYSV") ||
         link == linux::dev_path("zero").string() + " (deleted)" ||
         link == "/anon_hugepage (deleted)" || link == "/[aio] (deleted)";
}

/// The walk over the processes, in a child that enters their mount namespaces.
class FileWalk {
 public:
  explicit FileWalk(const FilesExpectation& wanted) : wanted_(wanted) {}

  Result<void> run() {
    // After the first namespace is entered, the path /proc no longer leads to the host's procfs.
    std::vector<UniqueFd> pidfds, namespaces;
    for (const int pid : wanted_.pids) {
      OCIRUN_TRY_ASSIGN(const linux::ProcessIdentity process, linux::identify_process(pid));
      OCIRUN_TRY_ASSIGN(UniqueFd pidfd, linux::open_pidfd(process));
      pidfds.push_back(std::move(pidfd));
    }
    for (const int pid : wanted_.namespaces) {
      OCIRUN_TRY_ASSIGN(UniqueFd one, linux::open_namespace(wanted_.procfs.fd(), pid,
                                                            linux::NamespaceKind::kMount));
      namespaces.push_back(std::move(one));
    }
    for (const UniqueFd& one : namespaces) OCIRUN_TRY(learn_mounts(one));
    for (std::size_t i = 0; i < pidfds.size(); ++i)
      OCIRUN_TRY(
          within(compare_process(wanted_.pids[i], pidfds[i]), "process {}", wanted_.pids[i]));
    return {};
  }

 private:
  Result<UniqueFd> open(const std::string& path, int flags) const {
    return linux::sys::openat(wanted_.procfs.fd(), path.c_str(), flags);
  }

  Result<void> learn_mounts(Fd mount_namespace) {
    OCIRUN_TRY(enter_container_namespace(mount_namespace, linux::NamespaceKind::kMount));
    OCIRUN_TRY_ASSIGN(const std::string table, linux::read_mountinfo(wanted_.procfs));
    for (std::string_view rest = table; const auto mount = linux::next_mount(rest);)
      mounts_.insert(mount->id);
    return {};
  }

  Result<void> compare_process(int pid, Fd pidfd) const {
    for (const char* name : {"cwd", "exe", "root"}) {
      OCIRUN_TRY(within(compare_place(fmt::format("{}/{}", pid, name)), name));
    }
    OCIRUN_TRY(compare_mapped_files(pid));
    OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                      open(fmt::format("{}/fd", pid), O_RDONLY | O_DIRECTORY));
    return linux::for_each_entry(directory, [&](const char* name, unsigned char) {
      return within(compare_descriptor(pid, pidfd, name), "descriptor {}", name);
    });
  }

  // Compares mapped files too, because a process may have closed the descriptor of a mapped file.
  Result<void> compare_mapped_files(int pid) const {
    OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                      open(fmt::format("{}/map_files", pid), O_RDONLY | O_DIRECTORY));
    return linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
      OCIRUN_TRY(
          within(compare_place(fmt::format("{}/map_files/{}", pid, name)), "mapping {}", name));
      return {};
    });
  }

  Result<void> compare_descriptor(int pid, Fd pidfd, const char* name) const {
    OCIRUN_TRY_ASSIGN(const std::string link, compare_place(fmt::format("{}/fd/{}", pid, name)));
    if (link == "anon_inode:[fanotify]") return check(kFanotify);
    if (link == "anon_inode:bpf-map") return check(kBpfMap);
    const auto number = linux::number<int>(name);
    if (link.starts_with("socket:") && number) return compare_socket(pidfd, *number);
    OCIRUN_TRY_ASSIGN(const std::string info,
                      wanted_.procfs.read(fmt::format("{}/fdinfo/{}", pid, name)));
    return info.contains("\niff:") ? check(kTunDevice) : Result<void>{};
  }

  // Compares the file behind the magic link `name`, and returns the text of the link. A pipe or a
  // socket has no path, and is not compared.
  Result<std::string> compare_place(const std::string& name) const {
    OCIRUN_TRY_ASSIGN(std::string link, linux::sys::readlinkat(wanted_.procfs.fd(), name.c_str()));
    if (!link.starts_with('/') || is_memory(link)) return link;
    OCIRUN_TRY_ASSIGN(const UniqueFd file, open(name, O_PATH));
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::mount_of(wanted_.procfs, file));
    if (mounts_.contains(mount)) return link;
    for (const Fd stream : wanted_.streams)
      if (linux::sys::is_same_file(file, stream).value_or(false)) return link;
    return refuse("{} lies outside of the container", linux::in_one_line(link));
  }

  Result<void> compare_socket(Fd pidfd, int number) const {
    OCIRUN_TRY_ASSIGN(const UniqueFd copy, linux::copy_descriptor(pidfd, number));
    OCIRUN_TRY_ASSIGN(const Privilege* const privilege, privilege_of(copy));
    return privilege == nullptr ? Result<void>{} : check(*privilege);
  }

  Result<void> check(const Privilege& privilege) const {
    for (const unsigned capability : privilege.capabilities)
      if (has_in_bounding_set(wanted_.config, capability)) return {};
    return refuse("is {}, which a process without {} cannot open", privilege.name,
                  privilege.capability_names);
  }

  const FilesExpectation& wanted_;
  std::unordered_set<std::uint64_t> mounts_;  // the ids of the container's mounts
};

}  // namespace

Result<void> compare_files(const FilesExpectation& wanted) {
  return in_child("compare open files", [&] { return FileWalk(wanted).run(); });
}

}  // namespace ocirun::runtime
