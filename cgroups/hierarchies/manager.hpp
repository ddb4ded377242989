#pragma once

#include <cstdint>

#include "linux/base/name_table.hpp"

namespace ocirun::cgroups {

/// Who makes a container's cgroup: ocirun in the cgroup file system, systemd as a scope, or nobody
/// (`--cgroup-manager`).
enum class Manager : std::uint8_t { kCgroupfs, kSystemd, kDisabled };

inline constexpr linux::Named<Manager> kManagerNames[] = {
    {"cgroupfs", Manager::kCgroupfs},
    {"systemd", Manager::kSystemd},
    {"disabled", Manager::kDisabled},
};

}  // namespace ocirun::cgroups
