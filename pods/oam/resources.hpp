#pragma once

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// A volume, as a container of OAM declares it: the directory, and where it is mounted.
struct DeclaredVolume {
  Volume volume;
  Mount mount;
  bool ephemeral = false;
  Place place = nullptr;
};

/// The resources of a container, with its volumes.
struct OamResources {
  Resources resources;
  std::vector<DeclaredVolume> volumes;
  Place place = nullptr;
};

/// A name of OAM: 1 to 63 letters, digits, "-", "_" and "." (OAM-10).
bool oam_name(bundle::Value at, std::string& out);
/// The resources of a container (OAM-30 … OAM-37), with its volumes. Kubernetes' limits and
/// requests are a problem that says what to write.
bool oam_resources(bundle::Value at, OamResources& out);

}  // namespace ocirun::pods
