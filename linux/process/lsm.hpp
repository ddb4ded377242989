#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// Whether the LSM is enabled, as the caller's /sys says. Call both functions while /sys is the
/// host's, before the change to the container's root.
bool apparmor_enabled();
bool selinux_enabled();
/// Refuses a profile or a label ("" for none) whose LSM is off on this host. The error names the
/// field (P-9, P-16). The profile "unconfined" needs no AppArmor.
Result<void> check_lsm(const std::string& apparmor_profile, const std::string& selinux_label);

/// A label without the newline or NUL that the security modules write after it.
std::string_view plain_label(std::string_view label);
/// Whether `label`, the text "NAME (MODE)" of AppArmor, is that of `profile`, of a child profile
/// ("PROFILE//CHILD"), or of a stack that begins with `profile` ("PROFILE//&OTHER").
bool is_of_profile(std::string_view label, std::string_view profile);

/// Sets the profile that the next execve enters (P-9), through attr/apparmor/exec or else
/// attr/exec, and reads it back. "unconfined" is allowed, also without AppArmor; "" does nothing.
/// Errors: the profile is not loaded; EINVAL when AppArmor is off.
Result<void> set_apparmor_on_exec(ProcfsOnDemand& procfs, const std::string& profile);
/// set_selinux_on_exec() sets the label that the next execve enters (P-16), set_selinux_key_label()
/// the label of keys that are created from now on. "" does nothing. Errors: the policy does not
/// know the label; EINVAL when SELinux is off.
Result<void> set_selinux_on_exec(ProcfsOnDemand& procfs, const std::string& label);
Result<void> set_selinux_key_label(ProcfsOnDemand& procfs, const std::string& label);

/// Asks the loaded policy, through the host's /sys, whether files may have this label (L-34).
/// Succeeds where the policy cannot be asked. Errors: the policy does not know the label.
Result<void> check_mount_label(const std::string& label);
/// Labels an open file (not O_PATH), for a filesystem that was mounted without a `context` option.
Result<void> set_file_label(Fd file, std::string_view label);

/// Replaces the caller's session keyring by a new one, which only its possessors may use. The
/// keyring is anonymous: keyctl(2) first looks for an existing keyring of the given name, so
/// another container of the same uid could prepare a keyring that our container would join. No
/// error: a kernel without keyrings (ENOSYS), and an outer seccomp filter that refuses every call
/// of keyrings. Errors: EDQUOT; EPERM if such a filter refuses keyctl alone.
Result<void> join_session_keyring();

}  // namespace ocirun::linux
