#pragma once

#include <string>

#include "linux/error.hpp"
#include "linux/procfs.hpp"

namespace ocirun::linux {

bool apparmor_enabled();
bool selinux_enabled();

/// The profile that the next execve enters (P-9): attr/apparmor/exec, else attr/exec; read back.
/// "unconfined" is allowed, also without AppArmor; "" does nothing. Errors: AppArmor is off (names
/// process.apparmorProfile), the profile is not
/// loaded.
Result<void> set_apparmor_on_exec(const Procfs& procfs, const std::string& profile);
/// The label that the next execve enters (P-16), and the one for keys made from now on.
Result<void> set_selinux_on_exec(const Procfs& procfs, const std::string& label);
Result<void> set_selinux_key_label(const Procfs& procfs, const std::string& label);

}  // namespace ocirun::linux
