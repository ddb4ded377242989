#include "runtime/inspect/inspect.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <string>

#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/commands/mounts.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

/// The directory of a thread that lives. A program may end its first thread, which has no
/// namespaces then.
std::string living_thread(const linux::Procfs& procfs, int pid) {
  std::string process = std::to_string(pid);
  const auto lives = [&](const std::string& files) {
    return linux::sys::readlinkat(procfs.fd(), (files + "/ns/mnt").c_str()).has_value();
  };
  if (lives(process)) return process;
  const auto tasks = procfs.open_file(process + "/task", O_RDONLY | O_DIRECTORY);
  if (!tasks) return process;
  std::string living = process;
  ignore(linux::for_each_entry(*tasks, [&](const char* name, unsigned char) -> Result<void> {
    if (std::string files = process + "/task/" + name; living == process && lives(files))
      living = std::move(files);
    return {};
  }));
  return living;
}

}  // namespace

Result<Inspection> inspect(const Container& container) {
  OCIRUN_TRY(refuse_foreign(container.directory()));
  OCIRUN_TRY_ASSIGN(bundle::Config config, container.config());
  const std::size_t own_mounts = config.mounts.size();
  OCIRUN_TRY_ASSIGN(const auto added, added_mounts(container));
  for (const bundle::LiveMount& live : added) config.mounts.push_back(live.mount);
  Inspection inspection{.state = container.state(), .sections = {}};
  if (!can_kill(inspection.state.status)) {
    inspection.is_alive = false;
    inspection.sections = {{"end", inspect_end(inspection.state)}, {"use", inspect_use(container)}};
    std::erase_if(inspection.sections, [](const Section& section) { return section.rows.empty(); });
    return inspection;
  }
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  Subject subject{.container = container,
                  .config = config,
                  .own_mounts = own_mounts,
                  .procfs = procfs,
                  .pid = inspection.state.pid,
                  .files = living_thread(procfs, inspection.state.pid),
                  .status = {}};
  OCIRUN_TRY_ASSIGN(subject.status, subject.read("status"));
  inspection.sections = {{"namespaces", inspect_namespaces(subject)},
                         {"credentials", inspect_credentials(subject)},
                         {"settings", inspect_settings(subject)},
                         {"mounts", inspect_mounts(subject)},
                         {"hooks", inspect_hooks(subject)},
                         {"kernel values", inspect_kernel_values(subject)},
                         {"limits", inspect_limits(subject)},
                         {"use", inspect_use(container)},
                         {"processes", inspect_processes(subject)}};
  std::erase_if(inspection.sections, [](const Section& section) { return section.rows.empty(); });
  // Another process may have got the pid while the files were read.
  if (!linux::is_alive(container.init()))
    return refuse("container {} has ended while it was inspected: inspect it again",
                  inspection.state.id);
  return inspection;
}

}  // namespace ocirun::runtime
