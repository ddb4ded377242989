#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// One line of /proc/PID/uid_map: the `size` ids from `container_id` on correspond to those from
/// `host_id` on.
struct IdMapping {
  std::uint32_t container_id = 0;
  std::uint32_t host_id = 0;
  std::uint32_t size = 0;
  friend bool operator==(const IdMapping&, const IdMapping&) = default;
};

/// Reads a uid_map or gid_map file: `path` below the directory `at`, such as "self/uid_map" below a
/// procfs. Errors: the file cannot be opened or read.
Result<std::vector<IdMapping>> read_id_map(Fd at, const std::string& path);
/// Parses the text of a uid_map or gid_map file.
std::vector<IdMapping> parse_id_map(std::string_view text);

}  // namespace ocirun::linux
