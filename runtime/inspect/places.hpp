#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/inspect/look_up.hpp"
#include "runtime/inspect/mount_table.hpp"

namespace ocirun::runtime {

/// The paths that a document names, in the container and on the host, and the mounts of both. All
/// paths are looked up at once.
class Places {
 public:
  /// `root`: the container's. `inside`, `host`: the mounts of the container and of the caller.
  Places(const bundle::Config& config, MountTable inside, MountTable host, Fd root);
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  const MountTable& inside() const { return inside_; }
  const MountTable& host() const { return host_; }

  /// What the path of the host leads to; nullptr if that is not known.
  const Found* on_host(const std::string& path) const {
    return known(SoughtPath::Side::kHost, path);
  }
  const Found* in_container(const std::string& path) const {
    return known(SoughtPath::Side::kContainer, path);
  }
  /// The path without symlinks in the container; the path itself if that is not known.
  std::string resolved(const std::string& path) const;
  bool is_missing(const std::string& path) const;
  /// Whether nobody knows what the path leads to, because a file system may not answer.
  bool hangs(const std::string& path) const;

 private:
  bool answers(SoughtPath::Side side, std::uint64_t mount) const;
  const std::optional<Found>* answer_for(SoughtPath::Side side, const std::string& path) const;
  const Found* known(SoughtPath::Side side, const std::string& path) const;

  MountTable inside_, host_;
  std::vector<SoughtPath> sought_;
  std::vector<std::optional<Found>> answers_;
};

/// The reason in a row of Verdict::kUnknown.
inline constexpr const char* kHangs = "a file system on the way may never answer";

}  // namespace ocirun::runtime
