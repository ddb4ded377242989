#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// A workload with the options that complete its document. Only complete() makes one, so that no
/// function which takes a Completed can be called before the options were applied.
class Completed {
 public:
  const Workload& workload() const { return workload_; }
  const Pod& pod() const { return workload_.pod; }
  const Given& given() const { return given_; }
  /// The address of the metadata service is known when the service listens.
  void set_metadata_url(std::string url) { workload_.pod.metadata_url = std::move(url); }

 private:
  friend Result<Completed> complete(Workload workload, Given given, const HostPath& data,
                                    const Publishing& publishing, Audience audience);
  Completed(Workload workload, Given given)
      : workload_(std::move(workload)), given_(std::move(given)) {}

  Workload workload_;
  Given given_;
};

/// Completes a workload without problems. If it will run on this machine, gives its volume claims
/// directories below `data`, the directory of --data. Applies `given`, and then `publishing`,
/// because --publish names a port as --port has set it. Unless the workload runs already, checks
/// that the options give everything that the document names. Errors: those of keep_claims(),
/// replace_parts(), publish() and check_given().
Result<Completed> complete(Workload workload, Given given, const HostPath& data,
                           const Publishing& publishing, Audience audience);

}  // namespace ocirun::pods
