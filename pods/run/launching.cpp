#include "pods/run/launching.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "linux/files/directories.hpp"
#include "linux/files/procfs.hpp"
#include "pods/documents/model/pod_fields.hpp"
#include "pods/metadata/manifest.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "pods/run/sandbox/pod_cgroup.hpp"

namespace ocirun::pods {

using linux::timeline::step;
namespace sys = linux::sys;

Launching::Launching(NewPod pod, PodDirectory directory, SupervisorSignals signals,
                     const Listener& listener)
    : pod_(std::move(pod)),
      directory_(std::move(directory)),
      signals_(std::move(signals)),
      listener_(listener),
      runtime_(pod_.settings.runtime) {}

Result<int> Launching::run() {
  step("begin the record");
  OCIRUN_TRY(begin_record());
  OCIRUN_TRY_ASSIGN(EventLog events, EventLog::open(directory_.fd(), record_.name));
  OCIRUN_TRY_ASSIGN(host_mounts_, sys::open(namespace_path(0, "mnt").c_str(), O_RDONLY));
  OCIRUN_TRY(enter_own_mount_namespace());
  OCIRUN_TRY(open_here());
  OCIRUN_TRY(signals_.check());
  step("make the sandbox");
  OCIRUN_TRY(start_sandbox());
  OCIRUN_TRY(signals_.check());
  step("make the volumes");
  OCIRUN_TRY_ASSIGN(Volumes volumes,
                    prepare_volumes(pod_.completed.workload(), pod_.completed.given(),
                                    {.fd = here_, .path = directory_.path().string()},
                                    Reach::kMounted, pod_.settings.data.string() + "/locks"));
  locks_ = std::move(volumes.locks);
  if (listener_.warn)
    for (const std::string& warning : volumes.warnings) listener_.warn(warning);
  OCIRUN_TRY_ASSIGN(const PodDevices devices, take_devices());
  if (pod_.settings.has_metadata) {
    OCIRUN_TRY_ASSIGN(const UniqueFd network, open_network());
    OCIRUN_TRY_ASSIGN(metadata_, MetadataService::listen(network, ports_of_apps()));
    pod_.completed.set_metadata_url(metadata_->url());
  }
  step("make the containers' root filesystems");
  OCIRUN_TRY(prepare_containers(volumes, devices));
  if (metadata_) OCIRUN_TRY(within(start_metadata(), "metadata service"));
  step("start the keeper");
  OCIRUN_TRY(start_keeper());
  OCIRUN_TRY_ASSIGN(PodServices services, make_services(events));
  OCIRUN_TRY_ASSIGN(std::deque<ContainerRun> runs, make_runs(services));
  OCIRUN_TRY(signals_.check());
  volumes.made.keep();
  Supervisor supervisor(runs, record_, directory_, services, pod_.settings, signals_);
  return supervisor.run(listener_.announce);
}

Result<PodServices> Launching::make_services(EventLog& events) {
  OCIRUN_TRY_ASSIGN(UniqueFd network, open_network());
  return PodServices{.workload = pod_.completed.workload(),
                     .runtime = runtime_,
                     .events = events,
                     .restart = pod_.completed.pod().restart,
                     .grace = pod_.settings.grace,
                     .is_readiness_awaited = pod_.settings.ready_within.has_value(),
                     .network = std::move(network),
                     .keeper = &*keeper_,
                     .metadata = std::move(metadata_),
                     .forwarder = std::move(forwarder_),
                     .membership = std::move(membership_),
                     .oom_kills = PodOomKills(record_),
                     .save = [&] { return write_record(directory_.fd(), record_); },
                     .tell_last_lines = listener_.last_lines,
                     .notifier = listener_.notifier};
}

Result<std::deque<ContainerRun>> Launching::make_runs(PodServices& services) {
  std::deque<ContainerRun> runs;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    OCIRUN_TRY_ASSIGN(ContainerOutput output, open_output(record_.containers[i]));
    runs.emplace_back(std::move(ready_[i]), std::move(output), record_.containers[i], i, services);
  }
  return runs;
}

Result<void> Launching::take_down() {
  if (host_mounts_ && ::setns(host_mounts_.get(), CLONE_NEWNS) != 0)
    return fail(errno, "leave the pod's mount namespace");
  host_mounts_.reset();
  // Short, because the supervisor has already tried to remove the pod, and its user may not want to
  // wait.
  constexpr std::chrono::seconds kPatienceAgain{10};
  return pods::take_down(directory_, record_, kPatienceAgain);
}

PodRecord Launching::ended_record(const Result<int>& status) const {
  PodRecord record = record_;
  if (status) return record;
  record.status = PodStatus::kFailed;
  record.reason = status.error().message();
  return record;
}

Result<UniqueFd> Launching::open_network() const {
  const std::string path = shared().network;
  if (path.empty()) return UniqueFd();
  return sys::open(path.c_str(), O_RDONLY);
}

Result<void> Launching::open_here() {
  OCIRUN_TRY_ASSIGN(here_, directory_.open_again());
  OCIRUN_TRY_ASSIGN(pod_.images.store, Store::open_in(pod_.settings.data));
  return {};
}

Result<void> Launching::begin_record() {
  const Pod& pod = pod_.completed.pod();
  record_.name = pod_.settings.name;
  record_.kind = shown_kind(pod);
  record_.runtime = pod_.settings.runtime;
  record_.grace = pod_.settings.grace;
  OCIRUN_TRY_ASSIGN(record_.boot_id, linux::read_boot_id());
  OCIRUN_TRY_ASSIGN(record_.supervisor, linux::identify_process(::getpid()));
  record_.log_directory =
      pod_.settings.log_directory.empty() ? directory_.path("logs") : pod_.settings.log_directory;
  for (const Container* container : all_containers(pod)) {
    ContainerRecord entry;
    entry.name = container->name;
    entry.id = fmt::format("{}.{}", record_.name, container->name);
    entry.is_init = record_.containers.size() < pod.init_containers.size();
    record_.containers.push_back(std::move(entry));
  }
  for (const auto& [container, image] : pod_.images.of)
    record_.images.push_back(image.digest.text());
  OCIRUN_TRY(write_record(directory_.fd(), record_));
  pod_.images.store_lock.reset();  // the record names the images now
  return {};
}

Result<void> Launching::start_sandbox() {
  OCIRUN_TRY(start_cgroup());
  OCIRUN_TRY_ASSIGN(record_.holder,
                    start_holder(sharing(), record_.name, directory_.path().string(),
                                 [&](const linux::ProcessIdentity& holder) {
                                   record_.holder = holder;
                                   return write_record(directory_.fd(), record_);
                                 }));
  if (!pod_.network.shared.empty()) {
    OCIRUN_TRY_ASSIGN(membership_,
                      Membership::join(directory_, pod_.network.shared, record_.holder,
                                       network_alias(pod_.completed.pod(), record_.name)));
  }
  if (pod_.network.pasta.empty()) return {};
  step("make the network");
  make_forwarder();
  return forwarder_->start(record_.holder);
}

void Launching::make_forwarder() {
  forwarder_.emplace(pod_.network.pasta, pod_.network.is_filtered, pod_.network.forwards,
                     directory_.path("net"), [&](const linux::ProcessIdentity& forwarder) {
                       record_.forwarder = forwarder;
                       return write_record(directory_.fd(), record_);
                     });
}

Result<void> Launching::start_cgroup() {
  std::string slice;
  std::string path = pod_.cgroup;
  if (pod_.settings.systemd_cgroups) {
    slice = slice_name_for(record_.name);
    OCIRUN_TRY_ASSIGN(path, find_pod_slice(slice));
  }
  if (path.empty()) return {};
  // A process that finds the cgroup in the record may kill everything in it.
  OCIRUN_TRY(check_unused(path));
  record_.cgroup = std::move(path);
  record_.slice = std::move(slice);
  OCIRUN_TRY(write_record(directory_.fd(), record_));
  const Amounts& limits = pod_.completed.pod().limits;
  return record_.slice.empty() ? make_pod_cgroup(record_.cgroup, limits)
                               : make_pod_slice(record_.cgroup, record_.name, limits);
}

Sharing Launching::sharing() const {
  return {.own_network = pod_.network.own_network, .pids = pod_.completed.pod().shares_pids};
}

SharedNamespaces Launching::shared() const {
  return shared_namespaces(record_.holder, sharing(), pod_.network.path);
}

std::string Launching::cgroups_path_of(const std::string& container) const {
  if (!record_.slice.empty())
    return cgroups_path_in(record_.slice, fmt::format("{}.{}", record_.name, container));
  if (record_.cgroup.empty()) return "";
  return fmt::format("{}/{}", record_.cgroup, container);
}

Result<void> Launching::show_members() {
  OCIRUN_TRY_ASSIGN(UniqueFd etc, sys::openat(here_, "etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return membership_->show_members_in(std::move(etc));
}

Result<PodDevices> Launching::take_devices() {
  OCIRUN_TRY_ASSIGN(PodDevices devices,
                    prepare_devices(pod_.completed.workload(), pod_.completed.given(),
                                    pod_.settings.data.string() + "/locks"));
  for (UniqueFd& lock : devices.locks) locks_.push_back(std::move(lock));
  if (listener_.warn)
    for (const std::string& warning : devices.warnings) listener_.warn(warning);
  if (listener_.note)
    for (const auto& [container, own] : devices.of)
      listener_.note(
          fmt::format("the container \"{}\" gets {}", container->name, fmt::join(own.names, ", ")));
  return devices;
}

Result<void> Launching::prepare_containers(const Volumes& volumes, const PodDevices& devices) {
  OCIRUN_TRY_ASSIGN(
      const std::vector<BoundPath> files,
      write_network_files(record_.name, pod_.network.visible(), here_, directory_.path().string()));
  if (membership_) OCIRUN_TRY(show_members());
  const Sandbox sandbox{
      .shared = shared(),
      .hostname = {},
      .root = RootKind::kOverlay,
      .cgroups_path = [&](const std::string& container) { return cgroups_path_of(container); },
      .powers = powers_here(!record_.cgroup.empty(), pod_.network.own_network),
      .ids = {}};
  OCIRUN_TRY_ASSIGN(
      ready_, make_bundles_below({.completed = pod_.completed,
                                  .store = pod_.images.store,
                                  .images = pod_.images.of,
                                  .volumes = volumes,
                                  .devices = devices,
                                  .sandbox = sandbox,
                                  .network_files = files},
                                 {.fd = here_, .path = directory_.path().string()}, kContainers));
  if (listener_.warn)
    for (const ReadyContainer& ready : ready_)
      for (const std::string& warning : ready.warnings) listener_.warn(warning);
  return {};
}

std::vector<std::uint16_t> Launching::ports_of_apps() const {
  std::vector<std::uint16_t> ports;
  for (const Container& container : pod_.completed.pod().containers)
    for (const Port& port : container.ports) ports.push_back(port.number);
  for (const HostPort& host : pod_.completed.pod().host_ports) {
    ports.push_back(host.number);
    if (host.pod_port) ports.push_back(host.pod_port->number);
  }
  return ports;
}

Result<void> Launching::start_metadata() {
  OCIRUN_TRY_ASSIGN(const Reified reified, reify(ready_, pod_.images.of, pod_.completed.given()));
  OCIRUN_TRY_ASSIGN(
      record_.metadata,
      metadata_->start(resources_of(pod_.completed.workload(), reified, metadata_->uuid()),
                       directory_.path().string(), metadata_cgroup()));
  return write_record(directory_.fd(), record_);
}

/// The cgroup of the metadata service; "": none of its own. No app has this name, because the name
/// of an app has no ".". In a slice of systemd only systemd makes cgroups.
std::string Launching::metadata_cgroup() const {
  const bool may_make = !record_.cgroup.empty() && record_.slice.empty();
  return may_make ? record_.cgroup + "/metadata.service" : "";
}

Result<ContainerOutput> Launching::open_output(const ContainerRecord& container) {
  OCIRUN_TRY_ASSIGN(
      UniqueFd logs,
      within(linux::open_or_make_directory(HostPath(record_.log_directory)), "log directory"));
  LinePrinter print;
  if (listener_.print)
    print = [this, name = container.name](Stream stream, std::string_view lines) {
      listener_.print(name, stream, lines);
    };
  return ContainerOutput::open_log(std::move(logs), container.id, std::move(print));
}

}  // namespace ocirun::pods
