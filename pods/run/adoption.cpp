// How a supervisor takes over a pod whose supervisor was killed.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "linux/base/syscalls.hpp"
#include "pods/documents/model/pod_fields.hpp"
#include "pods/run/launching.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods {

Result<void> Launching::start_keeper() {
  KeptPod kept;
  kept.has_metadata = metadata_.has_value();
  kept.locks = locks_.size();
  OCIRUN_TRY_ASSIGN(keeper_, Keeper::start([&](const linux::ProcessIdentity& keeper) {
                      kept.keeper = keeper;
                      return write_kept_pod(directory_.fd(), kept);
                    }));
  for (std::size_t i = 0; i < locks_.size(); ++i)
    OCIRUN_TRY(keeper_->keep(Keeper::lock_slot(ready_.size(), i), std::array{Fd(locks_[i])}));
  if (metadata_) OCIRUN_TRY(keeper_->keep(Keeper::kMetadata, metadata_->to_keep()));
  for (const ReadyContainer& ready : ready_) {
    const auto image = pod_.images.of.find(ready.container);
    kept.containers.push_back(
        kept_container(ready, image == pod_.images.of.end() ? nullptr : &image->second));
  }
  return write_kept_pod(directory_.fd(), kept);
}

Result<int> Launching::adopt(PodRecord record) {
  record_ = std::move(record);
  OCIRUN_TRY_ASSIGN(const KeptPod kept, read_kept_pod(directory_.fd()));
  OCIRUN_TRY_ASSIGN(keeper_, Keeper::find(kept.keeper));
  OCIRUN_TRY_ASSIGN(EventLog events, EventLog::open(directory_.fd(), record_.name));
  OCIRUN_TRY(find_processes());
  OCIRUN_TRY_ASSIGN(host_mounts_, linux::sys::open(namespace_path(0, "mnt").c_str(), O_RDONLY));
  OCIRUN_TRY(keeper_->enter_mount_namespace());
  OCIRUN_TRY(open_here());
  OCIRUN_TRY(resume_sandbox(kept));
  OCIRUN_TRY(reopen_containers(kept));
  OCIRUN_TRY_ASSIGN(PodServices services, make_services(events));
  OCIRUN_TRY_ASSIGN(std::deque<ContainerRun> runs, make_runs(services));
  OCIRUN_TRY_ASSIGN(record_.supervisor, linux::identify_process(::getpid()));
  record_.metadata = {};
  record_.reason.clear();
  OCIRUN_TRY(write_record(directory_.fd(), record_));
  pod_.images.store_lock.reset();  // the record names the images
  Supervisor supervisor(runs, record_, directory_, services, pod_.settings, signals_);
  return supervisor.go_on(std::move(adopted_), listener_.announce);
}

/// Finds the programs that run, and watches all processes of the pod.
Result<void> Launching::find_processes() {
  const auto watch = [&](const linux::ProcessIdentity& process) -> Result<void> {
    OCIRUN_TRY_ASSIGN(linux::ProcessEnd end, linux::ProcessEnd::watch(process));
    adopted_.ends.emplace(process.pid, std::move(end));
    return {};
  };
  OCIRUN_TRY(within(watch(record_.holder), "the holder of the pod's namespaces"));
  OCIRUN_TRY(within(watch(keeper_->process()), "the keeper of the pod"));
  if (still_runs(record_, record_.forwarder)) OCIRUN_TRY(watch(record_.forwarder));
  for (const ContainerRecord& container : record_.containers) {
    std::optional<int>& program = adopted_.programs.emplace_back();
    OCIRUN_TRY_ASSIGN(program, runtime_.find_program(container));
    if (!program) continue;
    const auto process = linux::identify_process(*program);
    const auto watched = process ? watch(*process) : Result<void>(std::unexpected(process.error()));
    // The pid may have been reused before it was watched.
    OCIRUN_TRY_ASSIGN(const auto again, runtime_.find_program(container));
    if (again && !watched) return watched;
    if (!again) {
      adopted_.ends.erase(*program);
      program.reset();
    }
  }
  return {};
}

Result<void> Launching::resume_sandbox(const KeptPod& kept) {
  for (std::size_t i = 0; i < kept.locks; ++i) {
    OCIRUN_TRY_ASSIGN(UniqueFd lock,
                      keeper_->take(Keeper::lock_slot(record_.containers.size(), i)));
    locks_.push_back(std::move(lock));
  }
  if (kept.has_metadata) {
    OCIRUN_TRY_ASSIGN(UniqueFd socket, keeper_->take(Keeper::kMetadata));
    OCIRUN_TRY_ASSIGN(UniqueFd content, keeper_->take(Keeper::kMetadata + 1));
    metadata_ = MetadataService::resume(std::move(socket), std::move(content),
                                        directory_.path().string(), metadata_cgroup());
  }
  if (!pod_.network.shared.empty()) {
    OCIRUN_TRY_ASSIGN(membership_,
                      Membership::resume(directory_, pod_.network.shared, record_.holder,
                                         network_alias(pod_.completed.pod(), record_.name)));
    OCIRUN_TRY(show_members());
  }
  if (pod_.network.pasta.empty()) return {};
  make_forwarder();
  forwarder_->resume(record_.forwarder);
  return {};
}

Result<void> Launching::reopen_containers(const KeptPod& kept) {
  const std::vector<const Container*> containers = all_containers(pod_.completed.pod());
  if (containers.size() != record_.containers.size() || containers.size() != kept.containers.size())
    return refuse("the document in run.json has other containers than the pod");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string& name = containers[i]->name;
    const std::string bundle = bundle_path(directory_, name);
    OCIRUN_TRY_ASSIGN(
        ReadyContainer ready,
        within(reopen_container(kept.containers[i], *containers[i], pod_.images.store, bundle),
               "container \"{}\"", name));
    ready_.push_back(std::move(ready));
  }
  return {};
}

}  // namespace ocirun::pods
