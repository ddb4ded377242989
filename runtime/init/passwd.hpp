#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ocirun::runtime {

struct PasswdEntry {
  std::string name, home;
};

/// What /etc/passwd of the caller's root says of `uid`, in its order. Read without NSS, whose
/// modules would be loaded from wherever the caller is. Unreadable, or larger than 1 MiB: nothing.
std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid);

}  // namespace ocirun::runtime
