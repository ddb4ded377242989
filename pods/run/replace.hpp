#pragma once

#include <functional>
#include <string>

#include "pods/run/run_pod.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// The digest of everything that a pod is made of: the document, the options of `run` that shape
/// the pod, the runtime, the keys of --secret, the CDI specifications, and the images. Pods with
/// the same fingerprint are the same pod. What lies in the directories of --volume is not a part of
/// a pod. Errors: those of prepare_devices(); a seccomp profile cannot be read.
Result<std::string> fingerprint_of(const NewPod& pod);

/// Fails if a pod has the name already, and `run` neither may replace the pod nor finds that it ran
/// when the machine went down. For an early error: make_room() and make_pod() decide.
Result<void> check_name(const PodsDirectory& pods, const Settings& settings);

enum class Room : std::uint8_t {
  kFree,       // the caller makes the pod now; make_pod() refuses a name that is still taken
  kReplaced,   // another pod had the name, and was removed
  kUnchanged,  // the pod runs without trouble, and has the same fingerprint
};
/// Makes room for the pod `settings.name`. Removes a pod that ran when the machine went down. With
/// --replace, stops and removes any other pod of the name, after `try_new` has succeeded. After an
/// error of `try_new` the old pod goes on. `note` is called before a pod is stopped, and if
/// something is left of the old pod that a later `delete` removes. Errors: those
/// of `try_new`, of stopping and of removing the old pod.
Result<Room> make_room(const PodsDirectory& pods, const Settings& settings,
                       const std::string& fingerprint, const std::function<Result<void>()>& try_new,
                       const std::function<void(const std::string&)>& note);

}  // namespace ocirun::pods
