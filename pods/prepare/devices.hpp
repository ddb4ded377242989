#pragma once

#include <map>
#include <string>
#include <vector>

#include "linux/base/unique_fd.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/devices/edits.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The CDI devices of a container.
struct ContainerDevices {
  std::vector<std::string> names;  // "vendor.com/gpu=0"
  ReadyEdits edits;
};

/// The CDI devices of the containers of a pod.
struct PodDevices {
  std::map<const Container*, ContainerDevices> of;  // without containers that get none
  /// Locks of the devices of which the document asks for a count, not for names. Such a device
  /// belongs to one pod at a time, as long as the pod runs.
  std::vector<UniqueFd> locks;
  std::map<std::string, std::string> files;  // the texts of the used specifications, by path
  std::vector<std::string> warnings;
};

/// Chooses the devices of each container: those of --device, and as many of a kind as the document
/// asks for. A device of --device counts among these. The others are the first of the kind that no
/// other container of the pod has and that no other pod has locked; an init container shares them
/// with the other containers. Several names of one device count once, and the name "all" is never
/// chosen. `locks` is the path of the directory for locks; "": nothing will run, and so no device
/// is locked. Reads no specification for a pod without devices. Errors, with their places: those of
/// DeviceRegistry and ready_edits(); there are too few devices; no kind or several kinds of the
/// class gpu.
Result<PodDevices> prepare_devices(const Workload& workload, const Given& given,
                                   const std::string& locks);

}  // namespace ocirun::pods
