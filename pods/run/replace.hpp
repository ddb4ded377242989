#pragma once

#include <functional>
#include <string>

#include "pods/run/run_pod.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// The digest of everything that a pod is made of: the document, the options of `run` that shape
/// the pod, the runtime, the keys of --secret, and the images. Pods with the same digest are the
/// same pod. What lies in the directories of --volume is not a part of a pod. Errors: a secret
/// cannot be read.
Result<std::string> digest_of_parts(const Workload& workload, const Settings& settings,
                                    const Images& images);
/// Keeps the digest in the directory of the pod, for the next `run --replace`.
Result<void> keep_digest_of_parts(const PodDirectory& directory, const std::string& digest);

enum class Room : std::uint8_t {
  kFree,       // no pod has the name now, or make_pod() says that one has it
  kUnchanged,  // with --replace: the pod runs, and is made of the same parts
};
/// Makes room for the pod `settings.name`, whose parts have the digest `parts`. Removes a pod that
/// died with the machine, because it was run before the last boot. With --replace, stops and
/// removes any other pod of the name, after `try_new` has succeeded. After an error of `try_new`
/// the old pod goes on. Errors: those of `try_new`, of stopping and of removing the old pod.
Result<Room> make_room(const PodsDirectory& pods, const Settings& settings,
                       const std::string& parts, const std::function<Result<void>()>& try_new);

}  // namespace ocirun::pods
