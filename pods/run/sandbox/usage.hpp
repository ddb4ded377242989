#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/files/procfs.hpp"

namespace ocirun::pods {

/// What a network namespace has received and sent since it was made, in bytes.
struct NetworkBytes {
  std::uint64_t received = 0, sent = 0;
  friend bool operator==(const NetworkBytes&, const NetworkBytes&) = default;
};

/// What a container uses. A number that the kernel does not tell is absent.
struct Usage {
  std::chrono::steady_clock::time_point at;  // when the numbers were read
  std::optional<std::uint64_t> cpu_ns;       // since the container was made
  std::optional<std::uint64_t> memory;       // bytes, with cached files
  std::optional<std::uint64_t> working_set;  // `memory` without files that were not used lately
  std::optional<std::uint64_t> memory_limit, memory_peak;
  std::optional<std::uint64_t> pids, pids_limit;
  std::optional<std::uint64_t> block_read, block_written;  // bytes
  std::optional<NetworkBytes> network;
};

/// Reads the counters of the cgroup at `path` (below each hierarchy's mount point). `path` may be
/// "". `pod_path` is the cgroup around it: the smaller limit of both counts; "": there is none.
Usage read_cgroup_usage(const std::string& path, const std::string& pod_path);

/// The traffic of the network namespace of the process `pid`, without the loopback device. Nothing
/// if that is the caller's network namespace, or cannot be read.
std::optional<NetworkBytes> read_network_bytes(const linux::Procfs& procfs, int pid);
/// Parses the text of /proc/PID/net/dev.
NetworkBytes parse_network_bytes(std::string_view text);

/// How much of one CPU was used between two readings, in hundredths of a percent: 10000 is one
/// whole CPU. Nothing without both numbers, or if a container was made anew between them.
std::optional<std::uint64_t> cpu_hundredths(const Usage& before, const Usage& now);

}  // namespace ocirun::pods
