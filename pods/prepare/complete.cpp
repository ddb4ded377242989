#include "pods/prepare/complete.hpp"

#include <utility>

namespace ocirun::pods {

Result<Completed> complete(Workload workload, Given given, const HostPath& data,
                           const Publishing& publishing, Audience audience) {
  if (audience == Audience::kThisMachine) OCIRUN_TRY(keep_claims(data, workload, given));
  OCIRUN_TRY(replace_parts(given, workload.pod));
  OCIRUN_TRY(publish(publishing, workload.pod));
  if (audience != Audience::kRunning) OCIRUN_TRY(check_given(given, workload, audience));
  return Completed(std::move(workload), std::move(given));
}

}  // namespace ocirun::pods
