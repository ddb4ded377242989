#include "pods/run/pod_images.hpp"

#include "pods/prepare/find_image.hpp"

namespace ocirun::pods {

Result<Store> open_store(const Settings& settings) {
  return Store::open(HostPath(settings.data.string() + "/images"));
}

Result<Images> find_images(const Workload& workload, const Settings& settings,
                           const Listener& listener) {
  TRY_ASSIGN(Store store, open_store(settings));
  TRY_ASSIGN(UniqueFd lease, store.use());
  Images images{.store = std::move(store), .lease = std::move(lease), .of = {}};
  for (const Container* container : all_containers(workload.pod)) {
    if (container->bundle) continue;
    AddOptions options = options_for_this_namespace();
    if (listener.progress)
      options.progress = [&](const AddProgress& progress) {
        listener.progress(container->image, progress);
      };
    TRY_ASSIGN(StoredImage image,
               find_image(workload, *container, settings.given, images.store, options));
    images.of.emplace(container, std::move(image));
  }
  return images;
}

}  // namespace ocirun::pods
