#pragma once

#include <functional>
#include <string>

#include "pods/documents/workload.hpp"
#include "pods/images/store.hpp"
#include "pods/run/output.hpp"
#include "pods/run/settings.hpp"
#include "pods/run/supervisor.hpp"

namespace ocirun::pods {

/// What run_pod() tells while it works; any of them may be empty.
struct Listener {
  std::function<void(const std::string&)> warn;
  std::function<void(const std::string& image, const AddProgress&)> progress;
  Announce announce;
  std::function<void(const std::string& container, Stream, std::string_view line)> print;
};

/// Whether the directory of the pod stays when the pod has ended, for `status` and `logs`.
enum class Afterwards : std::uint8_t { kRemove, kKeep };

/// Runs a pod from its document to its end, and supervises it meanwhile. Returns the exit status of
/// Supervisor::run(). Nothing has been started after an error of the document, of what the operator
/// has given, or of the machine's resources. After any error nothing of the pod is left, but for
/// layers of images in the store.
Result<int> run_pod(Workload& workload, const Settings& settings, Afterwards afterwards,
                    const Listener& listener);

}  // namespace ocirun::pods
