#include "pods/run/run_pod.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/base/timeline.hpp"
#include "pods/metadata/manifest.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/plan/ports.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/launching.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/replace.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/sandbox/host_ports.hpp"
#include "pods/run/sandbox/network.hpp"
#include "pods/run/sandbox/pod_cgroup.hpp"
#include "pods/run/trial.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

/// The name of the pod that a process belongs to; "" if it belongs to none of `pods`.
std::string pod_of(const PodsDirectory& pods, int pid) {
  const auto names = pods.names();
  if (!names) return "";
  for (const std::string& name : *names) {
    const auto directory = pods.open_pod(name);
    const auto record = directory ? read_record(directory->fd()) : Result<PodRecord>();
    if (!directory || !record) continue;
    const bool is_container = std::ranges::any_of(
        record->containers, [&](const ContainerRecord& container) { return container.pid == pid; });
    if (record->forwarder.pid == pid || is_container) return name;
  }
  return "";
}

/// Checks, before anything is started, that each port of the host that will lead to the pod is
/// free. A port of the pod that will be replaced counts as free. On the host's own network, a taken
/// port is only a warning, because a program may listen at another address. Errors: those of
/// check_free(), with the place of the port and the name of the pod of `pods` that has it.
Result<void> check_ports(const Completed& completed, const NetworkPlan& network,
                         const PodsDirectory& pods, const Settings& settings,
                         const std::function<void(const std::string&)>& warn) {
  const auto check = [&](const Forward& forward) -> Result<void> {
    bool is_own = false;
    auto checked = check_free(forward, [&](int pid) {
      const std::string pod = pod_of(pods, pid);
      is_own = settings.replace != Replace::kNo && pod == settings.name;
      return pod.empty() ? pod : fmt::format("the pod \"{}\"", pod);
    });
    if (is_own) return {};
    return forward.place == nullptr
               ? checked
               : within(std::move(checked), completed.workload().at(forward.place));
  };
  for (const Forward& forward : network.forwards) OCIRUN_TRY(check(forward));
  if (network.visible() != Network::kHost || !warn) return {};
  for (const PodPort& port : ports_of(completed.pod()))
    if (const auto checked = check(port.forward); !checked) warn(checked.error().message());
  return {};
}

void say_unchanged(const std::string& name, const Listener& listener) {
  if (listener.note)
    listener.note(
        fmt::format("the pod \"{}\" runs already, and its document, options and images are the "
                    "same: nothing was replaced",
                    name));
  if (listener.announce) listener.announce();
}

/// The directory of a new pod. The lock is held until the pod has ended.
struct Claim {
  PodDirectory directory;
  UniqueFd lock;
};

/// Makes and locks the directory of the pod, and keeps the request of `run` there.
Result<Claim> claim_name(const PodsDirectory& pods, const Settings& settings,
                         const std::string& fingerprint) {
  OCIRUN_TRY_ASSIGN(PodDirectory directory, pods.make_pod(settings.name));
  auto claimed = [&]() -> Result<UniqueFd> {
    OCIRUN_TRY_ASSIGN(UniqueFd lock, directory.lock());
    RunRequest request = settings.request;
    request.fingerprint = fingerprint;
    OCIRUN_TRY(write_request(directory.fd(), request));
    return lock;
  }();
  if (claimed) return Claim{.directory = std::move(directory), .lock = *std::move(claimed)};
  // EAGAIN, ENOENT: a `delete` has found the directory, and removes it.
  const int number = claimed.error().number();
  if (number != EAGAIN && number != ENOENT) ignore(directory.remove());
  return std::unexpected(claimed.error());
}

/// Removes what runs of the pod, and its directory unless that `is_wanted`. What cannot be removed
/// stays in the record, for `delete`. `status` is the outcome of the pod, for the record.
Result<void> end_pod(Launching& launching, const Result<int>& status, bool is_wanted) {
  const auto taken_down = launching.take_down();
  const auto cleaned = taken_down && !is_wanted
                           ? launching.directory().remove()
                           : record_end(launching.directory(), launching.ended_record(status),
                                        taken_down ? Left::kNothing : Left::kSome);
  if (!status && !taken_down)
    return refuse("{}; and what was started could not be removed: {}", status.error().message(),
                  taken_down.error().message());
  OCIRUN_TRY(taken_down);
  return cleaned;
}

}  // namespace

Result<Images> find_images(const Completed& completed, const Settings& settings,
                           const Listener& listener) {
  OCIRUN_TRY_ASSIGN(Store store, Store::open_in(settings.data));
  OCIRUN_TRY_ASSIGN(UniqueFd lock, store.lock());
  Images images{.store = std::move(store), .store_lock = std::move(lock), .of = {}};
  for (const Container* container : all_containers(completed.pod())) {
    if (container->bundle) continue;
    linux::timeline::step("find the image", container->image);
    AddOptions options = options_for_this_namespace();
    options.progress = [&](const AddProgress& progress) {
      if (listener.progress) listener.progress(container->image, progress);
      if (listener.notifier != nullptr)
        listener.notifier->tell_progress(fmt::format(
            "{}: unpacking layer {} of {}", container->image, progress.index + 1, progress.count));
    };
    OCIRUN_TRY_ASSIGN(StoredImage image, find_image(completed.workload(), *container,
                                                    completed.given(), images.store, options));
    images.of.emplace(container, std::move(image));
  }
  return images;
}

std::expected<int, PodFailure> run_pod(Completed& completed, const Settings& settings,
                                       Afterwards afterwards, const Listener& listener) {
  if (settings.has_metadata) OCIRUN_TRY(check_metadata(completed.workload()));
  OCIRUN_TRY(admit(completed));
  std::string cgroup;
  if (!settings.systemd_cgroups) {
    OCIRUN_TRY_ASSIGN(cgroup, settle_cgroup_for(settings.name));
    if (cgroup.empty())
      OCIRUN_TRY(check_unlimited(completed.workload(), completed.given().requests));
    if (cgroup.empty() && listener.warn && has_requests(completed.pod()))
      listener.warn(
          "no cgroup is delegated to you: what the containers request is there, and nothing keeps "
          "it for them while they run");
  }
  OCIRUN_TRY_ASSIGN(NetworkPlan network, plan_network(completed.pod(), settings.network));
  for (const std::string& warning : network.warnings)
    if (listener.warn) listener.warn(warning);
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  OCIRUN_TRY(check_name(pods, settings));
  OCIRUN_TRY(check_ports(completed, network, pods, settings, listener.warn));
  // This may take minutes. A signal may end it at any moment, because nothing has to be removed
  // yet.
  OCIRUN_TRY_ASSIGN(Images images, find_images(completed, settings, listener));
  NewPod pod{.completed = completed,
             .settings = settings,
             .network = std::move(network),
             .images = std::move(images),
             .cgroup = std::move(cgroup)};
  linux::timeline::step("try the containers' bundles");
  OCIRUN_TRY_ASSIGN(SupervisorSignals signals, SupervisorSignals::block());
  OCIRUN_TRY_ASSIGN(const std::string fingerprint, fingerprint_of(pod));
  const auto try_new = [&]() -> Result<void> {
    OCIRUN_TRY(try_bundles(pods, pod));
    return signals.check();
  };
  const auto made = make_room(pods, settings, fingerprint, try_new, listener.note);
  if (!made)
    return std::unexpected(
        PodFailure(made.error(), status_of_missing_program(made.error().message()).value_or(1)));
  const Room room = *made;
  if (room == Room::kUnchanged) {
    say_unchanged(settings.name, listener);
    return 0;
  }
  const auto after_removal = [&](Error error) {
    if (room == Room::kReplaced)
      error.within(fmt::format(
          "the pod \"{}\" that ran before is removed, and the new one has failed", settings.name));
    return error;
  };
  auto claimed = claim_name(pods, settings, fingerprint);
  if (!claimed) return std::unexpected(PodFailure(after_removal(claimed.error())));
  Claim claim = *std::move(claimed);
  Launching launching(std::move(pod), std::move(claim.directory), std::move(signals), listener);
  const Result<int> status = launching.run();
  // After a replacement the directory stays, so that `start` can try again.
  const bool is_wanted = afterwards == Afterwards::kKeep ||
                         (afterwards == Afterwards::kKeepIfStarted && status) ||
                         (room == Room::kReplaced && !status);
  OCIRUN_TRY(end_pod(launching, status, is_wanted));
  if (status) return *status;
  return std::unexpected(
      PodFailure(after_removal(status.error()), failure_status(launching.record())));
}

Result<Remains> remains_of(const PodsDirectory& pods, const PodRecord& record) {
  Remains remains;
  if (!is_of_this_boot(record)) return remains;
  const Runtime runtime(record.runtime);
  for (const ContainerRecord& container : record.containers) {
    OCIRUN_TRY_ASSIGN(const auto program, runtime.find_program(container));
    remains.programs = remains.programs || program;
  }
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(record.name));
  const auto kept = read_kept_pod(directory.fd());
  const auto keeper =
      kept ? Keeper::find(kept->keeper) : Result<Keeper>(std::unexpected(kept.error()));
  // 0: keeper.json is damaged. An error that is not listed may be over the next time.
  constexpr int kLasting[] = {0, ENOENT, ESRCH, ENOSYS};
  if (!keeper && std::ranges::count(kLasting, keeper.error().number()) != 0)
    remains.why_not = keeper.error().message();
  else if (!keeper)
    return std::unexpected(keeper.error());
  else if (!still_runs(record, record.holder))
    remains.why_not = "the holder of the pod's namespaces has ended";
  return remains;
}

Result<int> adopt_pod(Completed& completed, const Settings& settings, const Listener& listener) {
  OCIRUN_TRY_ASSIGN(NetworkPlan network, plan_network(completed.pod(), settings.network));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  OCIRUN_TRY_ASSIGN(PodDirectory directory, pods.open_pod(settings.name));
  OCIRUN_TRY_ASSIGN(const UniqueFd lock, directory.lock());
  OCIRUN_TRY_ASSIGN(PodRecord record, read_record(directory.fd()));
  OCIRUN_TRY_ASSIGN(Store store, Store::open_in(settings.data));
  OCIRUN_TRY_ASSIGN(UniqueFd store_lock, store.lock());
  OCIRUN_TRY_ASSIGN(SupervisorSignals signals, SupervisorSignals::block());
  Launching launching(
      {.completed = completed,
       .settings = settings,
       .network = std::move(network),
       .images = {.store = std::move(store), .store_lock = std::move(store_lock), .of = {}},
       .cgroup = record.cgroup},
      std::move(directory), std::move(signals), listener);
  const Result<int> status = launching.adopt(std::move(record));
  if (!status)
    return std::unexpected(
        Error(status.error())
            .within(fmt::format("the pod \"{}\" goes on without a supervisor: it cannot be adopted",
                                settings.name)));
  OCIRUN_TRY(end_pod(launching, status, true));
  return status;
}

}  // namespace ocirun::pods
