#include "pods/run/manage.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "bundle/json/record.hpp"
#include "linux/base/patience.hpp"
#include "pods/run/kept_pod.hpp"
#include "pods/run/networks/membership.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/sandbox/pod_cgroup.hpp"
#include "pods/run/supervisor_signals.hpp"

namespace ocirun::pods {
namespace {

Result<void> end_process(const PodRecord& record, const linux::ProcessIdentity& process) {
  if (!still_runs(record, process)) return {};
  OCIRUN_TRY_ASSIGN(const linux::ProcessEnd end, linux::ProcessEnd::watch(process));
  auto sent = linux::send_signal(process, SIGKILL);
  if (!sent && sent.error().number() != ESRCH) return sent;
  if (!end.comes_within(std::chrono::seconds(5)))
    return refuse("process {} does not end after SIGKILL", process.pid);
  ::waitpid(process.pid, nullptr, WNOHANG | __WALL);  // if it is the caller's child
  return {};
}

}  // namespace

std::string bundle_path(const PodDirectory& directory, const std::string& container) {
  return directory.path(fmt::format("{}/{}", kContainers, container));
}

Result<void> take_down(const PodDirectory& directory, const PodRecord& record,
                       std::chrono::seconds patience) {
  if (!is_of_this_boot(record))
    return leave_network(directory);  // pids and names in the record may be others' now
  Result<void> first;
  const auto keep_error = [&](Result<void> result) {
    if (!result && first) first = std::move(result);
  };
  const Runtime runtime(record.runtime);
  for (const ContainerRecord& container : record.containers)
    if (container.is_claimed)
      keep_error(runtime.remove(container, bundle_path(directory, container.name), patience));
  keep_error(end_process(record, record.metadata));
  keep_error(end_process(record, record.forwarder));
  keep_error(end_process(record, record.holder));
  if (const auto kept = read_kept_pod(directory.fd()))
    keep_error(end_process(record, kept->keeper));
  else if (kept.error().number() == bundle::kNewerRecord || is_transient(kept.error().number()))
    keep_error(std::unexpected(kept.error()));
  keep_error(leave_network(directory));
  if (!record.slice.empty())
    keep_error(remove_pod_slice(record.cgroup));
  else if (!record.cgroup.empty())
    keep_error(remove_pod_cgroup(record.cgroup));
  return first;
}

Result<void> record_end(const PodDirectory& directory, PodRecord record, Left left) {
  if (left == Left::kNothing) {
    record.cgroup.clear();
    record.slice.clear();
  }
  record.supervisor = record.holder = record.forwarder = record.metadata = {};
  for (ContainerRecord& container : record.containers) {
    if (left == Left::kNothing) container.is_claimed = container.was_free = false;
    container.pid = 0;
    container.ready = false;
    container.next_start.clear();
    if (container.status == ContainerStatus::kRunning) container.status = ContainerStatus::kExited;
  }
  record.is_stopping = false;
  if (record.status != PodStatus::kFailed) record.status = PodStatus::kStopped;
  return write_record(directory.fd(), record);
}

namespace {

constexpr std::chrono::seconds kPatienceWithLock{10};
constexpr std::chrono::seconds kPatienceAfterGrace{60};  // for what is removed after SIGKILL

/// The record of a pod. If the start of the pod or the machine was cut off, there may be no
/// readable record; then no recorded part of the pod runs. Errors: a newer version of ocirun wrote
/// the record.
Result<PodRecord> record_of(const PodDirectory& directory) {
  auto record = read_record(directory.fd());
  if (record || is_transient(record.error().number()) ||
      record.error().number() == bundle::kNewerRecord)
    return within(std::move(record), "pod {}", directory.name());
  PodRecord empty;
  empty.name = directory.name();
  empty.status = PodStatus::kFailed;
  empty.reason = record.error().number() == ENOENT
                     ? "its start was cut off"
                     : fmt::format("its record cannot be read: {}", record.error().message());
  return empty;
}

constexpr const char* kNotEnded =
    "the pod has not ended within {} s; `ocirun pod delete --force {}` kills it";

Result<void> wait_for_end(const PodRecord& record, std::chrono::seconds patience) {
  OCIRUN_TRY_ASSIGN(const bool has_ended, linux::ends_within(record.supervisor, patience));
  if (has_ended) return {};
  return refuse(kNotEnded, patience.count(), record.name);
}

/// Locks a pod. Waits a little, because its supervisor or another command may be about to unlock
/// it.
Result<UniqueFd> lock_of(const PodDirectory& directory) {
  linux::Patience left(kPatienceWithLock);
  for (;;) {
    auto lock = directory.lock();
    if (lock || lock.error().number() != EAGAIN) return lock;
    if (!left.wait())
      return refuse("another process starts, stops or deletes the pod \"{}\"", directory.name());
  }
}

Result<void> kill_supervisor(const PodRecord& record) {
  if (!is_supervised(record)) return {};
  auto sent = linux::send_signal(record.supervisor, SIGKILL);
  if (!sent && sent.error().number() != ESRCH) return sent;
  return wait_for_end(record, kPatienceWithLock);
}

}  // namespace

Result<PodView> view_pod(const PodsDirectory& pods, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(PodRecord record, record_of(directory));
  PodView view{.record = std::move(record), .is_supervised = false, .network = {}};
  OCIRUN_TRY_ASSIGN(view.network, network_place(directory));
  view.is_supervised = is_supervised(view.record);
  const bool should_run =
      view.record.status == PodStatus::kRunning || view.record.status == PodStatus::kStarting;
  if (view.is_supervised || !should_run) return view;
  view.lost_supervisor = view.record.status == PodStatus::kRunning && is_of_this_boot(view.record);
  view.record.status = PodStatus::kFailed;
  view.record.is_stopping = false;
  view.record.reason = fmt::format(
      "its supervisor (process {}) is gone; `ocirun pod delete {}` removes what is left",
      view.record.supervisor.pid, name);
  if (view.lost_supervisor)
    view.record.reason += fmt::format(", and `ocirun pod start {}` adopts what runs", name);
  for (ContainerRecord& container : view.record.containers) {
    container.ready = false;
    container.next_start.clear();
    if (container.status != ContainerStatus::kExited) container.reason = "nobody supervises it";
  }
  return view;
}

void look_at_programs(PodRecord& record) {
  const Runtime runtime(record.runtime);
  for (ContainerRecord& container : record.containers) {
    if (container.status != ContainerStatus::kRunning) continue;
    const auto program = runtime.find_program(container);
    if (!program || *program) continue;
    container.status = ContainerStatus::kExited;
    container.pid = 0;
    container.reason = "its program has ended while nobody supervised it";
  }
}

Result<std::optional<StoppingPod>> begin_stop(const PodsDirectory& pods, const std::string& name,
                                              std::optional<std::chrono::seconds> grace,
                                              Again again) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(const PodRecord record, record_of(directory));
  if (!is_supervised(record)) return std::nullopt;
  auto end = linux::ProcessEnd::watch(record.supervisor);
  if (!end && end.error().number() == ESRCH) return std::nullopt;
  if (!end) return std::unexpected(end.error());
  const bool is_asked = again == Again::kWaits && record.is_stopping && !grace;
  auto sent = is_asked ? Result<void>()
              : grace  ? ask_to_stop(record.supervisor, *grace)
                       : linux::send_signal(record.supervisor, SIGTERM);
  if (!sent && sent.error().number() != ESRCH) return std::unexpected(sent.error());
  const auto patience = grace.value_or(record.grace) + kPatienceAfterGrace;
  return StoppingPod{.name = name,
                     .end = *std::move(end),
                     .patience = patience,
                     .deadline = std::chrono::steady_clock::now() + patience};
}

Result<void> await_stop(const StoppingPod& pod) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(pod.deadline - std::chrono::steady_clock::now());
  if (pod.end.comes_within(std::max(left, std::chrono::milliseconds(0)))) return {};
  return refuse(kNotEnded, pod.patience.count(), pod.name);
}

Result<void> take_down_pod(const PodsDirectory& pods, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(const UniqueFd lock, lock_of(directory));
  OCIRUN_TRY_ASSIGN(const PodRecord record, record_of(directory));
  if (const auto read = read_record(directory.fd()); !read && read.error().number() != ENOENT)
    return refuse(
        "pod {0}: {1}: it does not say what runs of the pod, so the file stays as it is: mend it, "
        "or "
        "delete the containers {0}.* of `ocirun list` and then the pod (`ocirun pod delete {0}`)",
        name, read.error().message());
  OCIRUN_TRY(take_down(directory, record));
  return record_end(directory, record, Left::kNothing);
}

Result<void> delete_pod(const PodsDirectory& pods, const std::string& name, Force force) {
  const auto opened = pods.open_pod(name);
  if (!opened) {
    if (opened.error().number() != ENOENT) return std::unexpected(opened.error());
    OCIRUN_TRY_ASSIGN(const bool had_left, pods.remove_left(name));
    if (had_left) return {};
    return std::unexpected(opened.error());
  }
  const PodDirectory& directory = *opened;
  OCIRUN_TRY_ASSIGN(const PodRecord record, record_of(directory));
  if (is_supervised(record) && force == Force::kNo)
    return refuse("the pod \"{0}\" runs: `ocirun pod stop {0}` first, or --force", name);
  OCIRUN_TRY(kill_supervisor(record));
  OCIRUN_TRY_ASSIGN(const UniqueFd lock, lock_of(directory));
  // The supervisor may have recorded more before it was killed.
  OCIRUN_TRY_ASSIGN(const PodRecord left, record_of(directory));
  OCIRUN_TRY(take_down(directory, left));
  OCIRUN_TRY(directory.remove());
  OCIRUN_TRY(pods.remove_left(name));
  return {};
}

}  // namespace ocirun::pods
