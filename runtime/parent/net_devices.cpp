#include "runtime/parent/net_devices.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/network/device_program.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/state/net_pin.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kToAppend = O_RDWR | O_APPEND;

// Opens the journal as a new open file description, because an flock(2) lock belongs to an open
// file description. Empty if there is no regular file of that name.
Result<UniqueFd> open_journal(const StateDirectory& directory) {
  auto found = linux::sys::openat(directory.descriptor(), kDeviceJournal, O_PATH | O_NOFOLLOW);
  if (!found && found.error().number() == ENOENT) return UniqueFd();
  OCIRUN_TRY_ASSIGN(const UniqueFd file, std::move(found));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  if (!S_ISREG(status.st_mode)) return UniqueFd();
  return linux::sys::open(linux::host_fd_link(file).c_str(), kToAppend);
}

Result<void> remove_journal(const StateDirectory& directory) {
  auto removed = linux::sys::unlinkat(directory.descriptor(), kDeviceJournal, 0);
  if (!removed && removed.error().number() == ENOENT) return {};
  return removed;
}

Result<void> bring_back(const StateDirectory& directory, Fd network_namespace, UniqueFd journal,
                        const Log& log) {
  // A process that moves a device locks the journal until the process ends. So if the journal is
  // empty and not locked, no device has been moved, and no process is about to move a device.
  const bool is_locked = ::flock(journal.get(), LOCK_EX | LOCK_NB) == 0;
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(journal));
  if (is_locked && status.st_size == 0) return forget_net_devices(directory);
  UniqueFd pinned;
  if (network_namespace.value < 0) {
    OCIRUN_TRY_ASSIGN(pinned, pinned_network(directory.descriptor()));
    network_namespace = pinned;
  }
  OCIRUN_TRY_ASSIGN(const auto gone,
                    within(linux::request_device_return(network_namespace, std::move(journal)),
                           "bring the network devices back to the host ({0}/{1} lists them, "
                           "{0}/{2} keeps their network namespace): remove the cause, then repeat "
                           "delete --force",
                           directory.path().string(), kDeviceJournal, kNetworkPin));
  for (const std::string& name : gone)
    log.warn(fmt::format(
        "the network device {} was found neither on the host nor in the container's network "
        "namespace",
        name));
  return forget_net_devices(directory);
}

}  // namespace

Result<void> move_net_devices(const StateDirectory& directory,
                              const std::vector<linux::NetDevice>& devices, Fd network_namespace,
                              const Log& log) {
  OCIRUN_TRY_ASSIGN(const PinOutcome pin, pin_network(directory.descriptor(), network_namespace));
  if (pin == PinOutcome::kNotPermitted)
    log.debug(
        "the network namespace cannot be kept by a mount: virtual devices are lost if create "
        "is killed");
  OCIRUN_TRY(linux::sys::openat(directory.descriptor(), kDeviceJournal,
                                kToAppend | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  const linux::Interrupt interrupt{.descriptor = Signals::descriptor(), .check = Signals::check};
  for (const linux::NetDevice& device : devices) {
    OCIRUN_TRY_ASSIGN(UniqueFd journal, open_journal(directory));
    OCIRUN_TRY_ASSIGN(
        const std::string name,
        within(linux::request_device_move(device, network_namespace, std::move(journal), interrupt),
               "/linux/netDevices/" + device.host_name));
    log.debug(fmt::format("network device {} is {} in the container", device.host_name, name));
  }
  return {};
}

Result<void> return_net_devices(const StateDirectory& directory, Fd network_namespace,
                                const Log& log) {
  OCIRUN_TRY_ASSIGN(UniqueFd journal, open_journal(directory));
  if (!journal) return unpin_network(directory.descriptor());
  return bring_back(directory, network_namespace, std::move(journal), log);
}

Result<void> return_devices_of_unstarted(const StateDirectory& directory, const Log& log) {
  OCIRUN_TRY_ASSIGN(UniqueFd journal, open_journal(directory));
  if (!journal) return {};
  if (directory.is_committed() && !directory.awaits_start()) return forget_net_devices(directory);
  return bring_back(directory, Fd{}, std::move(journal), log);
}

// Removes the journal first: without a journal, no later command needs the pinned namespace.
Result<void> forget_net_devices(const StateDirectory& directory) {
  OCIRUN_TRY(remove_journal(directory));
  return unpin_network(directory.descriptor());
}

}  // namespace ocirun::runtime
