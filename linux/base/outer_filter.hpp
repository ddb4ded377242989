#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Whether a seccomp filter outside of ocirun answers the system call `call` (SYS_…) with EPERM, as
/// filters of container engines and SystemCallFilter= of systemd do. Asks with arguments that the
/// kernel answers with another error, so nothing changes; errno stays too. To be called only after
/// the call has failed with EPERM: usual containers pay nothing. False for a call that the source's
/// table kQuestions does not have, and for a call that the kernel itself refuses with EPERM because
/// the caller may not mount.
bool is_filtered(long call);

/// "a seccomp filter outside of ocirun refuses fsopen …": the refused call, and the remedy.
std::string describe_filtered(long call);

/// errno after a failed `call`, as an Error with the frame `what`. EPERM of an outer filter becomes
/// ENOSYS, with a frame that names the call: callers go on as on a kernel without the call.
std::unexpected<Error> failed_call(long call, std::string_view what);

/// Like failed_call(), after unshare(2) or setns(2) has failed: `name` is the call's. EPERM is that
/// of an outer filter if the caller may mount: such a caller may also make and join namespaces.
std::unexpected<Error> failed_namespace_call(std::string_view name, std::string_view what);

/// What an error says of a call that is absent: `since`, the kernel's version, or that an outer
/// filter refuses the call.
std::string why_absent(long call, std::string_view since);

}  // namespace ocirun::linux
