#include "pods/probes/calls.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "pods/confined/calls.hpp"

namespace ocirun::pods {

Result<void> allow_probe_calls() {
  linux::SeccompProfile profile = least_calls();
  for (const int family : {AF_INET, AF_INET6})
    allow(profile, {"socket"}, {equals(0, static_cast<std::uint64_t>(family))});
  allow(profile,
        {"connect", "getsockopt", "setsockopt", "getsockname", "getpeername", "poll", "ppoll",
         "ppoll_time64", "send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg", "shutdown"});
  // libcurl wakes itself up by these.
  allow(profile, {"pipe", "pipe2", "socketpair", "eventfd2"});
  allow_descriptor_flags(profile);
  answer(profile, ENOENT, {"open", "openat", "access", "faccessat", "stat", "readlink"});
  answer(profile, ENOTTY, {"ioctl"});
  return load_calls(profile);
}

}  // namespace ocirun::pods
