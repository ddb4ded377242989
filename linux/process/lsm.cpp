#include "linux/process/lsm.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr std::string_view kUnconfined = "unconfined";
constexpr std::size_t kSmallFile = 64 * 1024;

// "" if the file does not exist or cannot be read.
std::string read_host_file(const char* path) {
  const auto file = sys::open(path, O_RDONLY | O_CLOEXEC);
  if (!file) return {};
  return sys::read_all(*file, kSmallFile).value_or("");
}

// Removes the newline or NUL with which the kernel ends labels.
std::string_view trim_label(std::string_view label) {
  while (label.ends_with('\n') || label.ends_with('\0')) label.remove_suffix(1);
  return label;
}

// attr/apparmor/exec exists since Linux 5.8; attr/exec may belong to another LSM of the same
// kernel.
Result<std::string> apparmor_exec_file(const Procfs& procfs) {
  constexpr const char* kOwn = "thread-self/attr/apparmor/exec";
  const auto file = procfs.open_file(kOwn, O_WRONLY);
  if (file) return std::string(kOwn);
  if (file.error().number() == ENOENT) return std::string("thread-self/attr/exec");
  return std::unexpected(file.error());
}

// If nothing is read back, the write was lost, as in a file that only looks like procfs (runc
// CVE-2019-16884).
Result<void> write_label(const Procfs& procfs, const std::string& path, const std::string& value) {
  OCIRUN_TRY(procfs.write(path, value));
  OCIRUN_TRY_ASSIGN(const std::string set, procfs.read(path));
  if (trim_label(set).empty())
    return fail(EIO, "{} is empty after \"{}\" was written", path, value);
  return {};
}

Result<void> write_selinux(ProcfsOnDemand& procfs, const char* path, const std::string& label) {
  if (label.empty()) return {};
  OCIRUN_TRY_ASSIGN(const Procfs* opened, procfs.get());
  auto written = write_label(*opened, path, label);
  if (written) return {};
  const bool is_invalid = written.error().number() == EINVAL;
  return within(std::move(written), "/process/selinuxLabel: set \"{}\"{}", label,
                is_invalid ? " (the loaded policy does not know this label)" : "");
}

}  // namespace

bool apparmor_enabled() {
  return read_host_file("/sys/module/apparmor/parameters/enabled").starts_with('Y');
}

bool selinux_enabled() {
  const auto mount = sys::open("/sys/fs/selinux", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (mount)
    if (const auto info = sys::fstatfs(*mount); info && info->magic == SELINUX_MAGIC) return true;
  // The kernel registers selinuxfs only if SELinux is enabled at boot.
  return read_host_file("/proc/filesystems").find("\tselinuxfs\n") != std::string::npos;
}

Result<void> check_lsm(const std::string& apparmor_profile, const std::string& selinux_label) {
  if (!apparmor_profile.empty() && apparmor_profile != kUnconfined && !apparmor_enabled())
    return refuse(
        "/process/apparmorProfile: \"{}\" was asked for, but AppArmor is off on this"
        " host; remove the field, or boot with AppArmor",
        apparmor_profile);
  if (!selinux_label.empty() && !selinux_enabled())
    return refuse(
        "/process/selinuxLabel: \"{}\" was asked for, but SELinux is off on this host;"
        " remove the field, or boot with SELinux",
        selinux_label);
  return {};
}

Result<void> set_apparmor_on_exec(ProcfsOnDemand& procfs, const std::string& profile) {
  if (profile.empty()) return {};
  OCIRUN_TRY_ASSIGN(const Procfs* opened, procfs.get());
  const auto set = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const std::string path, apparmor_exec_file(*opened));
    return write_label(*opened, path, "exec " + profile);
  };
  auto done = set();
  if (done) return {};
  const int error = done.error().number();
  // Without AppArmor the kernel refuses the request, but every process is unconfined anyway.
  if (profile == kUnconfined && (error == EINVAL || error == ENOENT)) return {};
  const bool is_missing = error == ENOENT;
  return within(std::move(done), "/process/apparmorProfile: set \"{}\"{}", profile,
                is_missing ? " (the profile is not loaded: load it with apparmor_parser)" : "");
}

Result<void> set_selinux_on_exec(ProcfsOnDemand& procfs, const std::string& label) {
  return write_selinux(procfs, "thread-self/attr/exec", label);
}

Result<void> set_selinux_key_label(ProcfsOnDemand& procfs, const std::string& label) {
  return write_selinux(procfs, "thread-self/attr/keycreate", label);
}

Result<void> check_mount_label(const std::string& label) {
  const auto file = sys::open("/sys/fs/selinux/context", O_RDWR | O_CLOEXEC);
  if (!file || ::write(file->get(), label.c_str(), label.size()) >= 0 || errno != EINVAL) return {};
  return refuse(
      "/linux/mountLabel: \"{}\" is not known to the loaded SELinux policy; correct it, or remove "
      "the field",
      label);
}

Result<void> set_file_label(Fd file, std::string_view label) {
  if (::fsetxattr(file.value, "security.selinux", label.data(), label.size(), 0) == 0) return {};
  return fail(errno, "/linux/mountLabel: set \"{}\"", label);
}

namespace {

constexpr unsigned kPossessorAll = 0x3F000000;  // keyctl_setperm(3): KEY_POS_ALL

/// Whether a filter refuses add_key(2) and request_key(2) too, which the kernel itself answers with
/// EFAULT. The container inherits the filter: it keeps its caller's session keyring, but no call of
/// the container can use that keyring.
bool no_call_reaches_keyrings() {
  const auto is_refused = [](long call) {
    return ::syscall(call, nullptr, nullptr, nullptr, 0, 0) < 0 &&
           (errno == EPERM || errno == ENOSYS);
  };
  return is_refused(SYS_add_key) && is_refused(SYS_request_key);
}

}  // namespace

Result<void> join_session_keyring() {
  const long keyring = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (keyring < 0) {
    const int error = errno;
    if (error == ENOSYS) return {};
    if (error == EPERM && is_filtered(SYS_keyctl)) {
      if (no_call_reaches_keyrings()) return {};
      return fail(error, "make a session keyring: {}, or use --no-new-keyring",
                  describe_filtered(SYS_keyctl));
    }
    return fail(error, "make a session keyring{}",
                error == EDQUOT ? " (the user's key quota is used up: raise the sysctl"
                                  " kernel.keys.maxkeys, or use --no-new-keyring)"
                                : "");
  }
  // A new keyring allows view and read to every process of the same uid, also in other containers.
  if (::syscall(SYS_keyctl, KEYCTL_SETPERM, keyring, kPossessorAll) != 0)
    return fail(errno, "narrow the rights to the session keyring");
  return {};
}

std::string_view plain_label(std::string_view label) {
  while (label.ends_with('\n') || label.ends_with('\0')) label.remove_suffix(1);
  return label;
}

bool is_of_profile(std::string_view label, std::string_view profile) {
  label = plain_label(label);
  if (label.ends_with(')')) label = label.substr(0, label.rfind(" ("));
  if (!label.starts_with(profile)) return false;
  label.remove_prefix(profile.size());
  return label.empty() || label.starts_with("//");
}

}  // namespace ocirun::linux
