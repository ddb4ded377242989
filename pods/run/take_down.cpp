#include "pods/run/take_down.hpp"

#include <sys/wait.h>

#include <csignal>

#include "pods/run/runtime.hpp"
#include "pods/surroundings/pod_cgroup.hpp"
#include "pods/surroundings/pod_slice.hpp"

namespace ocirun::pods {
namespace {

Result<void> end_process(const PodRecord& record, const linux::ProcessIdentity& process) {
  if (!still_runs(record, process)) return {};
  TRY_ASSIGN(const linux::ProcessEnd end, linux::ProcessEnd::watch(process));
  auto sent = linux::send_signal(process, SIGKILL);
  if (!sent && sent.error().number() != ESRCH) return sent;
  if (!end.comes_within(std::chrono::seconds(5)))
    return refuse("process {} does not end after SIGKILL", process.pid);
  ::waitpid(process.pid, nullptr, WNOHANG | __WALL);  // if it is the caller's child
  return {};
}

}  // namespace

Result<void> take_down(const PodRecord& record) {
  Result<void> first;
  const auto keep_error = [&](Result<void> result) {
    if (!result && first) first = std::move(result);
  };
  const Runtime runtime(record.runtime);
  for (const ContainerRecord& container : record.containers)
    if (container.is_claimed) keep_error(runtime.remove(container.id));
  keep_error(end_process(record, record.metadata));
  keep_error(end_process(record, record.forwarder));
  keep_error(end_process(record, record.holder));
  if (!record.slice.empty())
    keep_error(remove_pod_slice(record.cgroup));
  else if (!record.cgroup.empty())
    keep_error(remove_pod_cgroup(record.cgroup));
  return first;
}

Result<void> record_end(const PodDirectory& directory, PodRecord record) {
  record.supervisor = record.holder = record.forwarder = record.metadata = {};
  for (ContainerRecord& container : record.containers) {
    container.pid = 0;
    container.ready = false;
    if (container.status == ContainerStatus::kRunning) container.status = ContainerStatus::kExited;
  }
  if (record.status != PodStatus::kFailed) record.status = PodStatus::kStopped;
  return write_record(directory.fd(), record);
}

}  // namespace ocirun::pods
