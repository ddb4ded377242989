#pragma once

#include <string>

#include "pods/images/registry/options.hpp"
#include "pods/images/registry/origin.hpp"
#include "pods/images/store.hpp"

namespace ocirun::pods {

/// How one image is fetched.
struct PullRequest {
  const Pulling& pulling;
  PullPolicy policy = PullPolicy::kMissing;
  std::string auth_file;  // for skopeo's --authfile; "": skopeo reads the caller's own files
};

/// Makes sure that the layout of `store` (open_pulled()) has the image of `origin` under the name
/// `origin.name`, and fetches the image by skopeo if `request.policy` demands it. An image of a
/// docker daemon or of a store on this machine is fetched each time, unless the policy is kNever.
/// Each image is fetched by one process at a time; the others wait, and then find the image. The
/// digests of everything that has arrived are verified before the store gets it. If the origin has
/// a digest, the index or manifest with that digest is fetched. The caller must have a single
/// thread. Errors, after which the store is as before: kNever, and the store has no such image;
/// those of run_skopeo(); a digest or size that is wrong; an image that is refused, or not for this
/// machine.
Result<void> pull(const Store& store, const Origin& origin, const PullRequest& request);

}  // namespace ocirun::pods
