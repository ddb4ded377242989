#pragma once

#include <map>

#include "pods/documents/workload.hpp"
#include "pods/images/store.hpp"
#include "pods/run/run_pod.hpp"
#include "pods/run/settings.hpp"

namespace ocirun::pods {

/// The images of a pod's containers, all of their layers in the store.
struct Images {
  Store store;
  UniqueFd lease;  // until the pod's record names the images
  std::map<const Container*, StoredImage> of;
};

/// The store in the data directory, opened in the caller's mount namespace.
Result<Store> open_store(const Settings& settings);

/// Finds the image of each container that has one, and unpacks what the store lacks. This may take
/// minutes.
Result<Images> find_images(const Workload& workload, const Settings& settings,
                           const Listener& listener);

}  // namespace ocirun::pods
