#include "pods/metadata/reify.hpp"

#include "linux/base/paths.hpp"

namespace ocirun::pods {

Result<void> check_metadata(const Workload& workload) {
  if (workload.pod.kind != Kind::kAppc)
    return refuse(
        "--metadata: only an App Container pod has a metadata service, not a document of the kind "
        "{}",
        name_of(workload.pod.kind));
  for (const Container& container : workload.pod.containers)
    for (const EnvVariable& variable : container.env)
      if (variable.name == "AC_METADATA_URL")
        return refuse(
            "{}: AC_METADATA_URL must not be set by the document: --metadata sets it to the "
            "address "
            "of the pod's metadata service",
            workload.at(variable.place));
  return {};
}

Result<Reified> reify(std::span<const ReadyContainer> containers,
                      const std::map<const Container*, StoredImage>& images, const Given& given) {
  Reified reified;
  for (const ReadyContainer& ready : containers) {
    const StoredImage& image = images.at(ready.container);
    reified.apps.push_back({.container = ready.container,
                            .launch = &ready.launch,
                            .image = &image.config,
                            .image_digest = image.digest});
  }
  for (const auto& [name, binding] : given.volumes) {
    TRY_ASSIGN(const HostPath directory, linux::absolute_path(binding.directory.string()));
    reified.volumes.push_back(
        {.name = name, .directory = directory.string(), .read_only = binding.read_only});
  }
  return reified;
}

}  // namespace ocirun::pods
