#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// The address of the UNIX socket at `path`. Errors: ENAMETOOLONG for more than 107 bytes.
inline Result<sockaddr_un> unix_address(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ENAMETOOLONG, "the socket {}: at most {} bytes are possible", path,
                sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// The form in which bind(2) and connect(2) take an address.
inline const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// The path in an address such as "unix:///run/a.sock", or all of an address without this scheme.
inline std::string_view without_unix_scheme(std::string_view address) {
  constexpr std::string_view kScheme = "unix://";
  if (address.starts_with(kScheme)) address.remove_prefix(kScheme.size());
  return address;
}

}  // namespace ocirun::linux
