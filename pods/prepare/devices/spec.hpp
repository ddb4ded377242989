#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "pods/prepare/devices/edits.hpp"

namespace ocirun::pods {

struct CdiDevice {
  std::string name;
  DeviceEdits edits;
};

/// A file of the Container Device Interface: devices of one kind.
struct CdiSpec {
  std::string file;
  std::string text;  // of the file
  std::string kind;  // "vendor.com/gpu"
  std::vector<CdiDevice> devices;
  DeviceEdits edits;  // for each container that gets a device of the file
};

/// A file that cannot be used.
struct BrokenSpec {
  std::string file;
  std::string kind;                   // "": not known
  std::vector<std::string> problems;  // sentences with their places
};

/// Reads the text of a specification, JSON or YAML, of a version from 0.3.0 to 1.1.0. A name that
/// the format does not have, and a member that is newer than the version of the file, are problems.
/// netDevices are a problem too, because the containers of a pod share the network of the pod.
std::expected<CdiSpec, BrokenSpec> read_cdi_spec(const std::string& file, std::string_view text);

}  // namespace ocirun::pods
