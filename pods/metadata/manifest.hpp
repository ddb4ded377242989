#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"
#include "pods/metadata/content.hpp"
#include "pods/plan/launch.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// An app of a pod with what was found out about it.
struct ReifiedApp {
  const Container* container = nullptr;  // of the workload
  const Launch* launch = nullptr;
  const ImageConfig* image = nullptr;
  Digest image_digest{Digest::Algorithm::kSha256, ""};
};

/// A directory of the host that the operator gives for a volume or a mount point.
struct GivenVolume {
  std::string name;
  std::string directory;  // absolute
  bool read_only = false;
};

/// What a pod manifest leaves open, for its reified form.
struct Reified {
  std::vector<ReifiedApp> apps;
  std::vector<GivenVolume> volumes;
  bool forwards_app_ports = false;  // without `ports`, the host's ports of the same numbers do
};

/// "sha256-HEX", as App Containers write a digest.
std::string image_id(const Digest& digest);

/// The pod manifest in its reified form: image ids, programs, users, environments, volumes and
/// ports as they are when the pod runs. `workload` must be an App Container pod without problems.
std::string pod_manifest(const Workload& workload, const Reified& reified);

/// The manifest of an OCI image as an App Container image has it. An OCI image has none of its own:
/// its configuration says the same, but for the name, which is that of the document or of the app.
/// `ac_version`: of the pod manifest. Labels of the image whose names are no AC Identifiers are
/// left out.
std::string image_manifest(const ReifiedApp& app, const std::string& ac_version);

/// All that the metadata service of the pod answers GET requests with.
std::vector<Resource> resources_of(const Workload& workload, const Reified& reified,
                                   const std::string& uuid);

/// Whether the pod of the document can have a metadata service. Errors: the document is no App
/// Container pod; an app sets AC_METADATA_URL, which is the service's.
Result<void> check_metadata(const Workload& workload);

/// Collects what is known of a pod whose bundles are ready. The containers, images and `given` must
/// outlive the result.
Result<Reified> reify(std::span<const ReadyContainer> containers,
                      const std::map<const Container*, StoredImage>& images, const Given& given);

}  // namespace ocirun::pods
