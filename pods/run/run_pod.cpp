#include "pods/run/run_pod.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "pods/images/directories.hpp"
#include "pods/metadata/reify.hpp"
#include "pods/prepare/admit.hpp"
#include "pods/prepare/contract_bundle.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/pod_images.hpp"
#include "pods/run/take_down.hpp"
#include "pods/surroundings/namespace_path.hpp"
#include "pods/surroundings/network.hpp"
#include "pods/surroundings/pod_cgroup.hpp"
#include "pods/surroundings/pod_slice.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kContainers = "containers";

/// A pod on its way from the document to running containers. Each step fills what the next needs.
class Launching {
 public:
  Launching(Workload& workload, const Settings& settings, PodDirectory directory,
            NetworkPlan network, Images images, std::string cgroup, StopSignals signals,
            const Listener& listener)
      : workload_(workload),
        settings_(settings),
        directory_(std::move(directory)),
        network_(std::move(network)),
        images_(std::move(images)),
        cgroup_(std::move(cgroup)),
        signals_(std::move(signals)),
        listener_(listener),
        runtime_(settings.runtime) {}

  Result<int> run() {
    TRY(begin_record());
    TRY_ASSIGN(EventLog events, EventLog::open(directory_.fd(), record_.name));
    TRY_ASSIGN(host_mounts_, sys::open(namespace_path(0, "mnt").c_str(), O_RDONLY));
    TRY(enter_own_mount_namespace());
    TRY(open_here());
    TRY(signals_.check());
    TRY(start_surroundings());
    TRY(signals_.check());
    TRY_ASSIGN(const Volumes volumes,
               prepare_volumes(workload_, settings_.given,
                               {.fd = here_, .path = directory_.path().string()}, Reach::kMounted,
                               settings_.data.string() + "/locks"));
    TRY_ASSIGN(UniqueFd network, open_network());
    std::optional<MetadataService> metadata;
    if (settings_.has_metadata) {
      TRY_ASSIGN(metadata, MetadataService::listen(network, ports_of_apps()));
      workload_.pod.metadata_url = metadata->url();
    }
    TRY(prepare_containers(volumes));
    if (metadata) TRY(within(start_metadata(*metadata), "metadata service"));
    PodServices services{.runtime = runtime_,
                         .events = events,
                         .restart = workload_.pod.restart,
                         .grace = settings_.grace,
                         .network = std::move(network),
                         .metadata = std::move(metadata),
                         .oom_kills = OomKills(record_),
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

  /// Opens the pod's directory and the store of images in the pod's mount namespace: the kernel
  /// mounts nothing on, and no overlay of, what was opened in another one. `directory_` stays
  /// without the pod's mounts, so that who removes it never comes to the files of a volume.
  Result<void> open_here() {
    TRY_ASSIGN(here_, directory_.open_again());
    TRY_ASSIGN(images_.store, open_store(settings_));
    return {};
  }

  Result<void> begin_record() {
    const Pod& pod = workload_.pod;
    record_.name = settings_.name;
    record_.kind = name_of(pod.kind);
    record_.runtime = settings_.runtime;
    record_.grace = settings_.grace;
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
    TRY(start_cgroup());
    TRY_ASSIGN(record_.holder, start_holder(sharing(), record_.name, directory_.path().string(),
                                            [&](const linux::ProcessIdentity& holder) {
                                              record_.holder = holder;
                                              return write_record(directory_.fd(), record_);
                                            }));
    if (network_.pasta.empty()) return {};
    return start_forwarder(network_.pasta, network_.forwards, record_.holder,
                           directory_.path("net"), [&](const linux::ProcessIdentity& forwarder) {
                             record_.forwarder = forwarder;
                             return write_record(directory_.fd(), record_);
                           });
  }

  Result<void> start_cgroup() {
    std::string slice;
    std::string path = cgroup_;
    if (settings_.systemd_cgroups) {
      slice = slice_name_for(record_.name);
      TRY_ASSIGN(path, find_pod_slice(slice));
    }
    if (path.empty()) return {};
    // Whoever finds the cgroup in the record may kill all that is in it.
    TRY(check_unused(path));
    record_.cgroup = std::move(path);
    record_.slice = std::move(slice);
    TRY(write_record(directory_.fd(), record_));
    const Amounts& limits = workload_.pod.limits;
    return record_.slice.empty() ? make_pod_cgroup(record_.cgroup, limits)
                                 : make_pod_slice(record_.cgroup, record_.name, limits);
  }

  Sharing sharing() const {
    return {.own_network = network_.own_network, .pids = workload_.pod.shares_pids};
  }
  SharedNamespaces shared() const {
    return shared_namespaces(record_.holder, sharing(), network_.path);
  }

  std::string cgroups_path_of(const std::string& container) const {
    if (!record_.slice.empty())
      return cgroups_path_in(record_.slice, fmt::format("{}.{}", record_.name, container));
    if (record_.cgroup.empty()) return "";
    return fmt::format("{}/{}", record_.cgroup, container);
  }

  Result<void> prepare_containers(const Volumes& volumes) {
    TRY_ASSIGN(
        const std::vector<BoundPath> files,
        write_network_files(record_.name, network_.visible(), here_, directory_.path().string()));
    const Surroundings surroundings{
        .shared = shared(),
        .hostname = {},
        .root = RootKind::kOverlay,
        .cgroups_path = [&](const std::string& container) { return cgroups_path_of(container); },
        .powers = powers_here(!record_.cgroup.empty(), network_.own_network),
        .ids = {}};
    TRY(sys::mkdirat(here_, kContainers, 0711));
    TRY_ASSIGN(const UniqueFd below,
               sys::openat(here_, kContainers, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const Site site{.fd = below, .path = directory_.path(kContainers)};
    for (const Container* container : all_containers(workload_.pod)) {
      TRY_ASSIGN(
          ReadyContainer ready,
          container->bundle
              ? prepare_contract_bundle(workload_, *container, site, surroundings, files)
              : prepare_container(workload_, *container, settings_.given, images_.store,
                                  images_.of.at(container), volumes, site, surroundings, files));
      for (const std::string& warning : ready.warnings)
        if (listener_.warn) listener_.warn(warning);
      ready_.push_back(std::move(ready));
    }
    return {};
  }

  std::vector<std::uint16_t> ports_of_apps() const {
    std::vector<std::uint16_t> ports;
    for (const Container& container : workload_.pod.containers)
      for (const Port& port : container.ports) ports.push_back(port.number);
    for (const HostPort& host : workload_.pod.host_ports) {
      ports.push_back(host.number);
      if (host.pod_port) ports.push_back(host.pod_port->number);
    }
    return ports;
  }

  /// The service runs before the first app asks.
  Result<void> start_metadata(MetadataService& metadata) {
    TRY_ASSIGN(Reified reified, reify(ready_, images_.of, settings_.given));
    reified.forwards_app_ports = !network_.forwards.empty();
    // No app is called so: the name of an app has no ".". A slice of systemd's has systemd's units
    // only.
    const bool may_make = !record_.cgroup.empty() && record_.slice.empty();
    const std::string cgroup = may_make ? record_.cgroup + "/metadata.service" : "";
    TRY_ASSIGN(record_.metadata, metadata.start(resources_of(workload_, reified, metadata.uuid()),
                                                directory_.path().string(), cgroup));
    return write_record(directory_.fd(), record_);
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
  std::string cgroup_;  // "": the pod gets none
  StopSignals signals_;
  const Listener& listener_;
  Runtime runtime_;
  PodRecord record_;
  UniqueFd host_mounts_;  // the mount namespace of the caller
  UniqueFd here_;         // directory_, in the pod's mount namespace
  std::vector<ReadyContainer> ready_;
};

}  // namespace

Result<int> run_pod(Workload& workload, const Settings& settings, Afterwards afterwards,
                    const Listener& listener) {
  TRY(replace_parts(settings.given, workload.pod));
  TRY(check_given(settings.given, workload));
  if (settings.has_metadata) TRY(check_metadata(workload));
  TRY(admit(workload, settings.given));
  std::string cgroup;
  if (!settings.systemd_cgroups) {
    TRY_ASSIGN(cgroup, cgroup_path_for(settings.name));
    if (cgroup.empty()) TRY(check_unlimited(workload, settings.given));
    if (cgroup.empty() && listener.warn && has_requests(workload.pod))
      listener.warn(
          "no cgroup is delegated to you: what the containers request is there, and nothing keeps "
          "it for them while they run");
  }
  TRY_ASSIGN(NetworkPlan network, plan_network(workload.pod, settings.network));
  for (const std::string& warning : network.warnings)
    if (listener.warn) listener.warn(warning);
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  // This may take minutes, and leaves nothing that has to be removed: a signal may end it anywhere.
  TRY_ASSIGN(Images images, find_images(workload, settings, listener));
  TRY_ASSIGN(StopSignals signals, StopSignals::block());
  TRY_ASSIGN(PodDirectory directory, pods.make_pod(settings.name));
  const auto lock = directory.lock();
  if (!lock) {
    static_cast<void>(directory.remove());
    return std::unexpected(lock.error());
  }
  Launching launching(workload, settings, std::move(directory), std::move(network),
                      std::move(images), std::move(cgroup), std::move(signals), listener);
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
