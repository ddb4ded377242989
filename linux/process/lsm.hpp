#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// What the caller's /sys says: to be asked where that is the host's, so before a container's root.
bool apparmor_enabled();
bool selinux_enabled();
/// Errors: a profile or label, "" for none, whose LSM is off on this host; name the field (P-9,
/// P-16). The profile "unconfined" needs no AppArmor.
Result<void> check_lsm(const std::string& apparmor_profile, const std::string& selinux_label);

/// The profile that the next execve enters (P-9): attr/apparmor/exec, else attr/exec; read back.
/// "unconfined" is allowed, also without AppArmor; "" does nothing. Errors: the profile is not
/// loaded; EINVAL when AppArmor is off.
Result<void> set_apparmor_on_exec(const Procfs& procfs, const std::string& profile);
/// The label that the next execve enters (P-16), and the one for keys made from now on. "" does
/// nothing. Errors: the policy does not know the label; EINVAL when SELinux is off.
Result<void> set_selinux_on_exec(const Procfs& procfs, const std::string& label);
Result<void> set_selinux_key_label(const Procfs& procfs, const std::string& label);

/// Asks the loaded policy, by the host's /sys, whether files may have this label (L-34); passes
/// where it cannot be asked. Errors: it does not know the label.
Result<void> check_mount_label(const std::string& label);
/// Labels a file that is open, no O_PATH. For a filesystem without a context of its own.
Result<void> set_file_label(Fd file, std::string_view label);

}  // namespace ocirun::linux
