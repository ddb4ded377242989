#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/prepare/host_paths.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {

/// The volumes of a pod that show a directory, or another file, of the host.
class HostVolumes {
 public:
  /// `site`: the directory of the pod's volumes. `locks`: as for prepare_volumes().
  HostVolumes(const Pod& pod, const Given& given, const Site& site, Reach reach,
              const std::string& locks);

  /// Both functions show a file of the host as `name` in the directory of the volumes, and complete
  /// `ready`. show_named() shows the file that the document names; show_given() shows `path`, which
  /// --volume or a volume claim gives, and whose `volume` is nullptr for a mount point without a
  /// volume (AC-8).
  Result<ReadyVolume> show_named(const Volume& volume, const std::string& name, ReadyVolume ready);
  Result<ReadyVolume> show_given(const Volume* volume, const std::string& path,
                                 const std::string& name, ReadyVolume ready);
  /// Like show_given(), for `path`, the directory of --secret.
  Result<ReadyVolume> show_secret(const std::string& path, const std::string& name,
                                  ReadyVolume ready) const;

  /// Whether nothing will run, and nothing that is made will stay.
  bool is_trial() const { return reach_ == Reach::kMounted && locks_directory_.empty(); }

  std::vector<UniqueFd> take_locks() { return std::move(locks_); }
  MadeOnHost take_made() { return host_.take_made(); }

 private:
  Result<HostFile> open_given(const std::string& path);
  Result<void> reserve(const Volume& volume, Fd file);
  Result<ReadyVolume> show(const HostFile& file, const std::string& path, const std::string& name,
                           ReadyVolume ready) const;
  Result<ReadyVolume> stand_in(const Volume& volume, const std::string& name,
                               ReadyVolume ready) const;

  const Pod& pod_;
  const Site& site_;
  Reach reach_;
  const std::string& locks_directory_;
  HostPaths host_;
  std::vector<UniqueFd> locks_;
};

}  // namespace ocirun::pods
