#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ocirun::runtime {

struct PasswdEntry {
  std::string name, home;
};

/// The entries for `uid` in /etc/passwd of the caller's root, in the file's order. Reads the file
/// without NSS, whose modules would be loaded from the caller's root. Empty where the file cannot
/// be read or is larger than 1 MiB.
std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid);

}  // namespace ocirun::runtime
