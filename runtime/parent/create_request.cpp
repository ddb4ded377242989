#include "runtime/parent/create_request.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

Result<void> Announcement::tell(const linux::Child& process, Rollback& undo) const {
  if (pid_file) {
    OCIRUN_TRY(
        within(linux::replace_file(*pid_file, fmt::format("{}", process.pid), 0644), "--pid-file"));
    undo.add([this] { take_back(); });
  }
  if (pidfd_socket) {
    if (!process.pidfd)
      return fail(ENOSYS, "--pidfd-socket: open a pidfd: {}",
                  linux::why_absent(SYS_pidfd_open, "Linux 5.3"));
    OCIRUN_TRY_ASSIGN(const UniqueFd socket,
                      within(linux::connect_unix(*pidfd_socket), "--pidfd-socket"));
    OCIRUN_TRY(linux::send_descriptor(socket, process.pidfd, "pidfd"));
  }
  return {};
}

void Announcement::take_back() const {
  if (pid_file) ignore(linux::sys::unlinkat(Fd{AT_FDCWD}, pid_file->c_str(), 0));
}

namespace {

using linux::NamespaceKind;

// Returns the path as text for the container's record. The record is a JSON document, which can
// only contain UTF-8.
Result<std::string> recordable(const HostPath& path) {
  if (bundle::is_utf8(path.string())) return path.string();
  return refuse("{}: must be UTF-8, as the container's state is JSON: rename it", path.string());
}

}  // namespace

Result<bundle::IntentRecord> begin_intent(const bundle::ContainerRecord& record) {
  linux::ProcessIdentity self = record.attendant();
  if (self.pid != ::getpid()) {
    OCIRUN_TRY_ASSIGN(self, linux::identify_process(::getpid()));
  }
  return bundle::IntentRecord{
      .record = record, .runtime_pid = self.pid, .runtime_start_time = self.start_time};
}

Result<bundle::ContainerRecord> new_record(const CreateRequest& request,
                                           const bundle::Config& config,
                                           const cgroups::Record& cgroup, CgroupManager manager) {
  bundle::ContainerRecord record;
  record.id = request.id.string();
  record.oci_version = config.oci_version;
  OCIRUN_TRY_ASSIGN(record.bundle, recordable(request.bundle));
  OCIRUN_TRY_ASSIGN(record.rootfs, recordable(config.root_path));
  record.created = linux::rfc3339_now(9);
  record.owner_uid = ::geteuid();
  OCIRUN_TRY_ASSIGN(record.boot_id, linux::read_boot_id());
  record.cgroup = cgroup;
  record.cgroup_manager = manager;
  record.has_poststart = !config.hooks.of(hooks::Kind::kPoststart).empty();
  record.has_poststop = !config.hooks.of(hooks::Kind::kPoststop).empty();
  record.own_pid_namespace = config.namespaces.creates(NamespaceKind::kPid);
  record.new_keyring = request.new_keyring;
  record.learns_calls = request.learner != nullptr;
  record.mounts_on_host = !config.namespaces.contains(NamespaceKind::kMount);
  record.has_process = config.process.has_value();
  if (bundle::stop_signal(config.annotations))
    record.stop_signal = *bundle::image_annotation(config.annotations, bundle::kStopSignal);
  record.annotations = config.annotations;
  if (request.is_attended) {
    OCIRUN_TRY_ASSIGN(const linux::ProcessIdentity self, linux::identify_process(::getpid()));
    record.attendant_pid = self.pid;
    record.attendant_start_time = self.start_time;
  }
  return record;
}

}  // namespace ocirun::runtime
