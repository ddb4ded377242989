#include "pods/metadata/calls.hpp"

#include <cerrno>

#include "pods/confined/calls.hpp"

namespace ocirun::pods {

Result<void> allow_service_calls() {
  linux::SeccompProfile profile = least_calls();
  allow(profile,
        {"accept",     "accept4",     "poll",       "ppoll",      "ppoll_time64", "epoll_ctl",
         "epoll_wait", "epoll_pwait", "getsockopt", "setsockopt", "getsockname",  "getpeername",
         "send",       "sendto",      "sendmsg",    "recv",       "recvfrom",     "recvmsg",
         "shutdown",   "dup2",        "dup3"});
  allow_descriptor_flags(profile);
  answer(profile, ENOENT, {"open", "openat"});
  return load_calls(profile);
}

}  // namespace ocirun::pods
