#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/process/pidfd.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// What a container was made of when its bundle was prepared.
struct KeptContainer {
  std::string name;
  std::string program;  // the first word of its command line
  int stop_signal = 0;
  bool has_root = false;  // from an image, with these layers:
  std::vector<StoredLayer> layers;
  std::vector<SubPath> parts;  // of volumes
};

/// The content of keeper.json, with which `ocirun pod start` adopts a pod whose supervisor was
/// killed: the keeper of the pod, and what the supervisor knew besides the document, the options
/// and the record. Images and files of secrets may have changed since.
struct KeptPod {
  int format = 1;                 // of the file; a greater number is that of a newer version
  linux::ProcessIdentity keeper;  // of the boot in the pod's record
  bool has_metadata = false;      // the keeper has the metadata service
  std::size_t locks = 0;          // how many locks of volumes and devices the keeper has
  std::vector<KeptContainer> containers;  // empty: the pod cannot be adopted yet
};

/// Replaces keeper.json in the directory of the pod atomically.
Result<void> write_kept_pod(Fd directory, const KeptPod& pod);
/// Errors: ENOENT if the pod has no keeper, because its start was cut off or an older version has
/// run it; a damaged file; bundle::kNewerRecord.
Result<KeptPod> read_kept_pod(Fd directory);

/// A container as it was prepared, to be kept.
KeptContainer kept_container(const ReadyContainer& ready, const StoredImage* image);
/// Makes the container of `kept` ready again. `bundle` is the path of its bundle, whose root
/// filesystem exists. Errors: the store does not have a layer any more.
Result<ReadyContainer> reopen_container(const KeptContainer& kept, const Container& container,
                                        const Store& store, const std::string& bundle);

}  // namespace ocirun::pods
