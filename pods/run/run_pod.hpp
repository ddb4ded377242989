#pragma once

#include <expected>
#include <functional>
#include <map>
#include <string>

#include "pods/images/store.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/output.hpp"
#include "pods/run/sandbox/network.hpp"
#include "pods/run/settings.hpp"
#include "pods/run/supervisor.hpp"
#include "pods/run/units/service_notifier.hpp"

namespace ocirun::pods {

/// What run_pod() reports while it works. Each function may be empty.
struct Listener {
  std::function<void(const std::string&)> warn;
  std::function<void(const std::string&)> note;
  std::function<void(const std::string& image, const AddProgress&)> progress;
  Announce announce;
  // Gets lines and pieces of lines, each with a line break.
  std::function<void(const std::string& container, Stream, std::string_view lines)> print;
  LastLines last_lines;  // of the containers because of which the pod has not started
  ServiceNotifier* notifier = nullptr;  // nullptr: none
};

/// The images of a pod's containers. The store has all of their layers.
struct Images {
  Store store;
  UniqueFd store_lock;  // held until the pod's record names the images
  StoredImages of;
};

/// Finds the image of each container that has one, and unpacks what the store lacks. This may take
/// minutes.
Result<Images> find_images(const Completed& completed, const Settings& settings,
                           const Listener& listener);

/// A pod of which nothing exists yet.
struct NewPod {
  Completed& completed;
  const Settings& settings;
  NetworkPlan network;
  Images images;
  std::string cgroup;  // its path; "": systemd makes it, or the pod gets none

  bool has_cgroup() const { return settings.systemd_cgroups || !cgroup.empty(); }
};

/// Whether the directory of the pod is kept for `status` and `logs` when the pod has ended.
/// kKeepIfStarted: it is kept only if the pod could be started.
enum class Afterwards : std::uint8_t { kRemove, kKeepIfStarted, kKeep };

/// Why a pod could not be started.
struct PodFailure {
  // Not explicit: OCIRUN_TRY returns an Error.
  PodFailure(Error why, int status = 1) : error(std::move(why)), exit_status(status) {}
  Error error;
  int exit_status;  // of the command: 127: a program does not exist, 126: it is not executable, or
                    // 1
};

/// Starts a pod, and supervises it to its end. Finds errors of the document, of the options, and of
/// the machine's resources and ports before it starts anything. Returns the exit status of
/// Supervisor::run(). Fails with ECANCELED if the start was ended by a signal. Returns 0 at once if
/// --replace finds the same pod running. After an error nothing of the pod is left except layers in
/// the store and, with Afterwards::kKeep or after the replacement of another pod, its record and
/// its logs.
std::expected<int, PodFailure> run_pod(Completed& completed, const Settings& settings,
                                       Afterwards afterwards, const Listener& listener);

/// What runs of a pod whose supervisor was killed.
struct Remains {
  bool programs = false;  // the program of at least one container
  std::string why_not;    // why adopt_pod() cannot adopt the pod; "": it can
};
/// Errors: the runtime does not know a container of the record; the keeper of the pod cannot be
/// looked at.
Result<Remains> remains_of(const PodsDirectory& pods, const PodRecord& record);

/// Adopts a pod whose supervisor was killed, and supervises it to its end. The programs go on.
/// `completed` and `settings` must be those with which the pod was run. Keeps the record of the
/// pod. Returns the exit status of Supervisor::run(). If the pod cannot be adopted, it is as before
/// the call.
Result<int> adopt_pod(Completed& completed, const Settings& settings, const Listener& listener);

}  // namespace ocirun::pods
