#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"
#include "pods/metadata/content.hpp"
#include "pods/prepare/plan/launch.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// An app of a pod, with its image and its program.
struct ReifiedApp {
  const Container* container = nullptr;  // of the workload
  const Launch* launch = nullptr;
  const ImageConfig* image = nullptr;
  Digest image_digest;
};

/// A directory of the host that the operator gives for a volume or a mount point.
struct GivenVolume {
  std::string name;
  std::string directory;  // absolute
  bool read_only = false;
};

/// The facts that a reified pod manifest has and the document leaves open.
struct Reified {
  std::vector<ReifiedApp> apps;
  std::vector<GivenVolume> volumes;
};

/// "sha256-HEX", as App Containers write a digest.
std::string image_id(const Digest& digest);

/// The reified pod manifest, with the image ids, programs, users, environments, volumes and ports
/// of the running pod. `workload` must be an App Container pod without problems.
std::string pod_manifest(const Workload& workload, const Reified& reified);

/// An App Container image manifest for an OCI image, which has none of its own. It is made from the
/// configuration of the image; the name is that of the image in the document, or else of the app.
/// `ac_version` is that of the pod manifest. Leaves out labels of the image whose names are no AC
/// Identifiers.
std::string image_manifest(const ReifiedApp& app, const std::string& ac_version);

/// All resources that the metadata service of the pod serves.
std::vector<Resource> resources_of(const Workload& workload, const Reified& reified,
                                   const std::string& uuid);

/// Checks that the pod of the document can have a metadata service. Errors: the document is no App
/// Container pod; an app sets AC_METADATA_URL, which only the service may set.
Result<void> check_metadata(const Workload& workload);

/// Collects the facts about a pod whose bundles are ready. The containers, images and `given` must
/// outlive the result.
Result<Reified> reify(std::span<const ReadyContainer> containers,
                      const std::map<const Container*, StoredImage>& images, const Given& given);

}  // namespace ocirun::pods
