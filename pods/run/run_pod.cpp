#include "pods/run/run_pod.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "pods/images/directories.hpp"
#include "pods/prepare/admit.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/namespace_path.hpp"
#include "pods/run/network.hpp"
#include "pods/run/pod_cgroup.hpp"
#include "pods/run/take_down.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kContainers = "containers";

/// The images of a pod's containers, all of their layers in the store.
struct Images {
  Store store;
  UniqueFd lease;  // until the pod's record names the images
  std::map<const Container*, StoredImage> of;
};

Result<Images> find_images(const Workload& workload, const Settings& settings,
                           const Listener& listener) {
  TRY_ASSIGN(Store store, Store::open(HostPath(settings.data.string() + "/images")));
  TRY_ASSIGN(UniqueFd lease, store.use());
  Images images{.store = std::move(store), .lease = std::move(lease), .of = {}};
  for (const Container* container : all_containers(workload.pod)) {
    AddOptions options;
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

/// A pod on its way from the document to running containers. Each step fills what the next needs.
class Launching {
 public:
  Launching(Workload& workload, const Settings& settings, PodDirectory directory,
            NetworkPlan network, Images images, StopSignals signals, UniqueFd host_mounts,
            const Listener& listener)
      : workload_(workload),
        settings_(settings),
        directory_(std::move(directory)),
        network_(std::move(network)),
        images_(std::move(images)),
        signals_(std::move(signals)),
        listener_(listener),
        runtime_(settings.runtime),
        host_mounts_(std::move(host_mounts)) {}

  Result<int> run() {
    TRY(begin_record());
    TRY_ASSIGN(EventLog events, EventLog::open(directory_.fd(), record_.name));
    TRY(signals_.check());
    TRY(start_surroundings());
    TRY(signals_.check());
    TRY_ASSIGN(const Volumes volumes,
               prepare_volumes(workload_, settings_.given,
                               {.fd = directory_.fd(), .path = directory_.path().string()},
                               MemoryVolumes::kMounted, settings_.data.string() + "/locks"));
    TRY(prepare_containers(volumes));
    TRY_ASSIGN(UniqueFd network, open_network());
    PodServices services{.runtime = runtime_,
                         .events = events,
                         .restart = workload_.pod.restart,
                         .grace = settings_.grace,
                         .network = std::move(network),
                         .cgroup = record_.cgroup,
                         .save = [&] { return write_record(directory_.fd(), record_); }};
    std::vector<ContainerRun> runs;
    runs.reserve(ready_.size());
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      TRY_ASSIGN(ContainerOutput output, open_output(record_.containers[i]));
      runs.emplace_back(std::move(ready_[i]), std::move(output), record_.containers[i], services);
    }
    TRY(signals_.check());
    Supervisor supervisor(runs, record_, directory_, services, settings_, signals_);
    return supervisor.run(listener_.announce);
  }

  /// Removes the pod's processes, containers, cgroup and mounts.
  Result<void> take_down() {
    if (host_mounts_ && ::setns(host_mounts_.get(), CLONE_NEWNS) != 0)
      return fail(errno, "leave the pod's mount namespace");
    host_mounts_.reset();
    return pods::take_down(record_);
  }

  const PodDirectory& directory() const { return directory_; }
  const PodRecord& record() const { return record_; }

 private:
  /// For probes; empty: the host's.
  Result<UniqueFd> open_network() const {
    const std::string path = shared().network;
    if (path.empty()) return UniqueFd();
    return sys::open(path.c_str(), O_RDONLY);
  }

  Result<void> begin_record() {
    const Pod& pod = workload_.pod;
    record_.name = settings_.name;
    record_.kind = name_of(pod.kind);
    record_.runtime = settings_.runtime;
    TRY_ASSIGN(record_.boot_id, linux::read_boot_id());
    TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(::getpid()));
    record_.supervisor = {.pid = ::getpid(), .start_time = stat.start_time};
    record_.log_directory =
        settings_.log_directory.empty() ? directory_.path("logs") : settings_.log_directory;
    for (const Container* container : all_containers(pod)) {
      ContainerRecord entry;
      entry.name = container->name;
      entry.id = fmt::format("{}.{}", record_.name, container->name);
      entry.is_init = record_.containers.size() < pod.init_containers.size();
      record_.containers.push_back(std::move(entry));
    }
    for (const auto& [container, image] : images_.of) record_.images.push_back(image.digest.text());
    TRY(write_record(directory_.fd(), record_));
    images_.lease.reset();  // the record names the images now
    return {};
  }

  /// The cgroup, the namespaces and the network, all of them recorded as soon as they exist.
  Result<void> start_surroundings() {
    if (!settings_.systemd_cgroups) {
      // Whoever finds the cgroup in the record may kill all that is in it.
      TRY(check_unused(cgroup_path_for(record_.name)));
      record_.cgroup = cgroup_path_for(record_.name);
      TRY(write_record(directory_.fd(), record_));
      TRY(make_pod_cgroup(record_.cgroup, workload_.pod.limits));
    }
    TRY_ASSIGN(record_.holder, start_holder(sharing(), record_.name, directory_.path().string(),
                                            [&](const linux::ProcessIdentity& holder) {
                                              record_.holder = holder;
                                              return write_record(directory_.fd(), record_);
                                            }));
    if (network_.pasta.empty()) return {};
    TRY_ASSIGN(record_.forwarder, start_forwarder(network_.pasta, network_.forwards, record_.holder,
                                                  directory_.path("net")));
    return write_record(directory_.fd(), record_);
  }

  Sharing sharing() const {
    return {.own_network = network_.own_network, .pids = workload_.pod.shares_pids};
  }
  SharedNamespaces shared() const {
    return shared_namespaces(record_.holder, sharing(), network_.path);
  }

  std::string cgroups_path_of(const std::string& container) const {
    if (settings_.systemd_cgroups)
      return fmt::format("ocirun.slice:ocirun:{}.{}", record_.name, container);
    return fmt::format("{}/{}", record_.cgroup, container);
  }

  Result<void> prepare_containers(const Volumes& volumes) {
    TRY_ASSIGN(const std::vector<BoundPath> files,
               write_network_files(record_.name, network_.visible(), directory_.fd(),
                                   directory_.path().string()));
    const Surroundings surroundings{
        .shared = shared(),
        .hostname = {},
        .root = RootKind::kOverlay,
        .cgroups_path = [&](const std::string& container) { return cgroups_path_of(container); }};
    TRY(sys::mkdirat(directory_.fd(), kContainers, 0711));
    TRY_ASSIGN(const UniqueFd below,
               sys::openat(directory_.fd(), kContainers, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const Site site{.fd = below, .path = directory_.path(kContainers)};
    for (const Container* container : all_containers(workload_.pod)) {
      TRY_ASSIGN(ReadyContainer ready,
                 prepare_container(workload_, *container, settings_.given, images_.store,
                                   images_.of.at(container), volumes, site, surroundings, files));
      for (const std::string& warning : ready.warnings)
        if (listener_.warn) listener_.warn(warning);
      ready_.push_back(std::move(ready));
    }
    return {};
  }

  Result<ContainerOutput> open_output(const ContainerRecord& container) {
    TRY_ASSIGN(UniqueFd logs,
               within(open_or_make_directory(HostPath(record_.log_directory)), "log directory"));
    LinePrinter print;
    if (listener_.print)
      print = [this, name = container.name](Stream stream, std::string_view line) {
        listener_.print(name, stream, line);
      };
    return ContainerOutput::open_log(std::move(logs), container.id, std::move(print));
  }

  Workload& workload_;
  const Settings& settings_;
  PodDirectory directory_;
  NetworkPlan network_;
  Images images_;
  StopSignals signals_;
  const Listener& listener_;
  Runtime runtime_;
  PodRecord record_;
  UniqueFd host_mounts_;  // the mount namespace of the caller
  std::vector<ReadyContainer> ready_;
};

}  // namespace

Result<int> run_pod(Workload& workload, const Settings& settings, Afterwards afterwards,
                    const Listener& listener) {
  if (::geteuid() != 0)
    return refuse("a pod has to be run by root: this version has no pods of ordinary users");
  if (settings.systemd_cgroups && (workload.pod.limits.memory || workload.pod.limits.cpus))
    return refuse(
        "the document limits the whole pod, which is possible with cgroupfs only, not with "
        "--systemd-cgroup");
  TRY(replace_parts(settings.given, workload.pod));
  TRY(check_given(settings.given, workload));
  TRY(admit(workload, settings.given));
  TRY_ASSIGN(NetworkPlan network, plan_network(workload.pod, settings.network));
  for (const std::string& warning : network.warnings)
    if (listener.warn) listener.warn(warning);
  // Before all directories are opened: overlayfs takes only layers that were opened in the mount
  // namespace of the overlay.
  TRY_ASSIGN(UniqueFd host_mounts, sys::open(namespace_path(0, "mnt").c_str(), O_RDONLY));
  TRY(enter_own_mount_namespace());
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  // This may take minutes, and leaves nothing that has to be removed: a signal may end it anywhere.
  TRY_ASSIGN(Images images, find_images(workload, settings, listener));
  TRY_ASSIGN(StopSignals signals, StopSignals::block());
  TRY_ASSIGN(PodDirectory directory, pods.make_pod(settings.name));
  TRY_ASSIGN(const UniqueFd lock, directory.lock());
  Launching launching(workload, settings, std::move(directory), std::move(network),
                      std::move(images), std::move(signals), std::move(host_mounts), listener);
  const Result<int> status = launching.run();
  const auto taken_down = launching.take_down();
  // What could not be removed must be found by `delete`.
  const bool is_removed =
      taken_down && (afterwards == Afterwards::kRemove || (!status && settings.is_detached));
  const auto cleaned = is_removed ? launching.directory().remove()
                                  : record_end(launching.directory(), launching.record());
  if (!status && !taken_down)
    return refuse("{}; and what was started could not be removed: {}", status.error().message(),
                  taken_down.error().message());
  TRY(taken_down);
  TRY(cleaned);
  return status;
}

}  // namespace ocirun::pods
