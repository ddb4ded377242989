#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// A path to look up: in the container, from its root, or on the host.
struct SoughtPath {
  enum class Side : std::uint8_t { kContainer, kHost };
  Side side = Side::kContainer;
  std::string path;
};

using Answers = std::function<bool(SoughtPath::Side side, std::uint64_t mount)>;

/// What a path leads to.
struct Found {
  int error = 0;            // errno; EREMOTE: nobody knows whether the file system answers
  mode_t mode = 0;          // type and permissions
  std::int64_t device = 0;  // of a device node
  std::uint64_t mount = 0;  // the id of its mount
  std::string path;         // without symlinks; in the container, from its root
};

/// Looks the places up, without opening any file; those in the container first. `root` is the
/// container's root. `answers` says whether the file system of a mount, by its id, always answers:
/// a process that asks another one, such as a FUSE of the container, may wait for ever, and cannot
/// be killed meanwhile. Nothing for
/// a place that does not answer within two seconds all the same, and for those after it.
std::vector<std::optional<Found>> look_up(Fd root, const std::vector<SoughtPath>& places,
                                          const Answers& answers);

}  // namespace ocirun::runtime
