#include "linux/files/procfs.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kRootInode = 1;  // PROC_ROOT_INO of the kernel
constexpr std::size_t kReadLimit = 1 << 20;
constexpr const char* kHostProc = "/proc";

/// Makes a new procfs mount that is attached nowhere.
Result<UniqueFd> mount_procfs(Procfs::Subset subset) {
  OCIRUN_TRY_ASSIGN(const UniqueFd filesystem, sys::fsopen("proc"));
  if (subset == Procfs::Subset::kProcesses) {
    // Both options exist since Linux 5.8. On an older kernel the mount merely shows more files.
    (void)sys::fsconfig(filesystem, FSCONFIG_SET_STRING, "hidepid", "ptraceable");
    (void)sys::fsconfig(filesystem, FSCONFIG_SET_STRING, "subset", "pid");
  }
  OCIRUN_TRY(sys::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr));
  return sys::fsmount(filesystem, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/// Verifies that `directory` is the root of a procfs, and not a directory that somebody put there.
Result<void> verify_root(Fd directory) {
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(directory));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  if (filesystem.magic != PROC_SUPER_MAGIC || info.st_ino != kRootInode)
    return refuse("/proc is not the root of a procfs: something is mounted over it");
  return {};
}

Result<void> verify_same_mount(Fd directory, const char* name, std::uint64_t expected) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t id, sys::mount_id(directory, name));
  if (id != expected) return fail(EXDEV, "/proc: {:?} is covered by another mount", name);
  return {};
}

// If the procfs at /proc belongs to another pid namespace, /proc/PID shows another process.
Result<void> verify_pid_namespace() {
  const auto self = sys::readlinkat(Fd{AT_FDCWD}, "/proc/self");
  if (self && number<int>(*self) == ::getpid()) return {};
  if (!self && self.error().number() != ENOENT) return std::unexpected(self.error());
  return refuse(
      "/proc belongs to another pid namespace: the pids in it are not those that this process "
      "sees; mount the procfs of this pid namespace (mount -t proc proc /proc)");
}

}  // namespace

Result<Procfs> Procfs::open(Subset subset) {
  if (auto own = mount_procfs(subset)) return Procfs(*std::move(own), Origin::kOwnMount);
  // The kernel refuses a new procfs in a user namespace that sees no complete /proc, and for a pid
  // namespace of another user namespace. The clone of /proc has to be recursive, because the mounts
  // below /proc are locked. open_file() and reopen() refuse a file that such a mount covers.
  auto host = sys::open_tree(Fd{AT_FDCWD}, kHostProc, OPEN_TREE_CLONE | unsigned{AT_RECURSIVE});
  if (!host) return of_host();
  OCIRUN_TRY(verify_root(*host));
  return Procfs(*std::move(host), Origin::kHost);
}

Result<Procfs> Procfs::of_host() {
  OCIRUN_TRY_ASSIGN(UniqueFd root, sys::open(kHostProc, O_PATH | O_DIRECTORY));
  OCIRUN_TRY(verify_root(root));
  return Procfs(std::move(root), Origin::kHost);
}

/// Replaces "self" by the target of the symlink in this procfs. If the procfs belongs to an outer
/// pid namespace, getpid(2) returns another number.
Result<std::string> Procfs::without_self(std::string_view path) const {
  const std::string_view first = path.substr(0, path.find('/'));
  if (first != "self" && first != "thread-self") return std::string(path);
  OCIRUN_TRY_ASSIGN(std::string number, sys::readlinkat(root_, std::string(first).c_str()));
  return std::move(number.append(path.substr(first.size())));
}

Result<UniqueFd> Procfs::open_file(std::string_view path, int flags) const {
  OCIRUN_TRY_ASSIGN(const std::string name, without_self(path));
  auto file =
      sys::openat2(root_, name.c_str(), flags | O_NOFOLLOW,
                   RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (!file && file.error().number() == ENOSYS) file = walk(name, flags);
  if (!file) file.error().within("/proc");
  return file;
}

/// Without openat2 (before Linux 5.6): opens one component at a time, and checks that each lies on
/// the same mount.
Result<UniqueFd> Procfs::walk(const std::string& path, int flags) const {
  OCIRUN_TRY_ASSIGN(const std::uint64_t mount, sys::mount_id(root_));
  UniqueFd directory;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = path.find('/', begin);
    const std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return fail(EINVAL, "open {}", path);
    const Fd here = directory ? Fd(directory) : Fd(root_);
    const bool last = end == std::string::npos;
    OCIRUN_TRY_ASSIGN(
        UniqueFd next,
        sys::openat(here, name.c_str(), O_NOFOLLOW | (last ? flags : O_PATH | O_DIRECTORY)));
    OCIRUN_TRY(verify_same_mount(next, "", mount));
    OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(next));
    if (filesystem.magic != PROC_SUPER_MAGIC) return fail(EXDEV, "open {}: not on procfs", path);
    if (last) return next;
    directory = std::move(next);
    begin = end + 1;
  }
}

Result<void> Procfs::write(std::string_view path, std::string_view value) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, open_file(path, O_WRONLY));
  const timeline::Call call("write", path);
  return within(sys::write_once(file, value), "/proc/{}", path);
}

Result<std::string> Procfs::read(std::string_view path) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, open_file(path, O_RDONLY));
  return within(sys::read_all(file, kReadLimit), "/proc/{}", path);
}

Result<std::string> Procfs::read_value(std::string_view path) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, open_file(path, O_RDONLY));
  return within(sys::read_value(file, kReadLimit), "/proc/{}", path);
}

Result<UniqueFd> Procfs::reopen(Fd descriptor, int flags) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_file("self/fd", O_PATH | O_DIRECTORY));
  const std::string name = std::to_string(descriptor.value);
  if (origin_ == Origin::kHost) {  // no mount can cover a file of our own procfs
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, sys::mount_id(directory));
    OCIRUN_TRY(verify_same_mount(directory, name.c_str(), mount));
  }
  return within(sys::openat(directory, name.c_str(), flags), "reopen");
}

Result<std::string> Procfs::path_of(Fd descriptor) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_file("self/fd", O_PATH | O_DIRECTORY));
  return sys::readlinkat(directory, std::to_string(descriptor.value).c_str());
}

Result<const Procfs*> ProcfsOnDemand::get() {
  if (opened_ != nullptr) return opened_;
  if (!own_) {
    OCIRUN_TRY_ASSIGN(own_, Procfs::open(Procfs::Subset::kProcesses));
  }
  return &*own_;
}

std::optional<std::string_view> name_in_proc(std::string_view path) {
  constexpr std::string_view kDirectory = "/proc";
  if (path == kDirectory) return "";
  if (path.starts_with(kDirectory) && path[kDirectory.size()] == '/')
    return path.substr(kDirectory.size() + 1);
  return std::nullopt;
}

std::string fd_link(Fd descriptor) { return fmt::format("self/fd/{}", descriptor.value); }

std::string host_fd_link(Fd descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor.value);
}

std::string host_own_status() {
  const auto file = sys::open("/proc/self/status", O_RDONLY);
  return file ? sys::read_value(*file, kReadLimit).value_or("") : "";
}

Result<std::string> host_path_of(Fd descriptor) {
  return sys::readlinkat(Fd{AT_FDCWD}, host_fd_link(descriptor).c_str());
}

std::optional<std::string_view> status_field(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    std::string_view line = cut(status, '\n');
    if (cut(line, ':') != name) continue;
    while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  return std::nullopt;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // In "12 (a name) with spaces) S 1 …" the name ends at the last parenthesis, and the state is
  // field 3.
  const std::size_t name_end = std::min(text.rfind(')'), text.size());
  const std::vector<std::string_view> fields = words(text.substr(name_end));
  const auto field = [&](std::size_t index) { return fields[index - 2]; };
  if (fields.size() + 2 <= 22) return std::nullopt;
  const auto parent = number<int>(field(4));
  const auto flags = number(field(9));
  const auto threads = number<int>(field(20));
  const auto start_time = number<unsigned long long>(field(22));
  if (!parent || !flags || !threads || !start_time) return std::nullopt;
  constexpr std::uint64_t kExiting = 0x4;                // PF_EXITING of <linux/sched.h>
  constexpr std::uint64_t kForkedButNotExecuted = 0x40;  // PF_FORKNOEXEC
  return ProcessStat{.state = field(3).front(),
                     .parent = *parent,
                     .start_time = *start_time,
                     .threads = *threads,
                     .has_executed = (*flags & kForkedButNotExecuted) == 0,
                     .is_exiting = (*flags & kExiting) != 0};
}

Error explain_hidden_process(int pid, Error error) {
  const int number = error.number();
  const bool may_be_hidden = number == ENOENT || number == EPERM || number == EACCES;
  if (!may_be_hidden || (::kill(pid, 0) != 0 && errno != EPERM)) return error;
  return Error(
      0, fmt::format("process {} is there, but /proc does not show it: /proc has to be the procfs "
                     "of this pid namespace, and without hidepid for containers of ordinary users "
                     "(root: mount -o "
                     "remount,hidepid=0 /proc)",
                     pid));
}

Result<ProcessStat> read_process_stat(int pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  const auto file = sys::open(path.c_str(), O_RDONLY | O_NOFOLLOW);
  // ESRCH, here and below: the process has ended meanwhile.
  if (!file && file.error().number() == ESRCH) return fail(ENOENT, "{}", path);
  if (!file) return std::unexpected(explain_hidden_process(pid, file.error()));
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(*file));
  if (filesystem.magic != PROC_SUPER_MAGIC) return refuse("{}: not on a procfs", path);
  OCIRUN_TRY(verify_pid_namespace());
  auto read = sys::read_value(*file, kReadLimit);
  if (!read && read.error().number() == ESRCH) return fail(ENOENT, "{}", path);
  OCIRUN_TRY_ASSIGN(const std::string text, within(std::move(read), path));
  const auto stat = parse_process_stat(text);
  if (!stat) return refuse("{}: not understood", path);
  return *stat;
}

Result<std::string> own_image() {
  OCIRUN_TRY_ASSIGN(const UniqueFd image, sys::open("/proc/self/exe", O_PATH));
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(image));
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

}  // namespace ocirun::linux
