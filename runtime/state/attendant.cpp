#include "runtime/state/attendant.hpp"

#include "linux/process/pidfd.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

Error explain_taken_id(const Store& store, const ContainerId& id, Error error) {
  const auto directory = store.find(id);
  if (!directory || !is_callers(*directory)) return error;
  const std::string root = directory->root();
  const std::string option = root == default_state_root().string() ? "" : "--root " + root + " ";
  const auto record = directory->read_record();
  if (!record || record->attendant_pid == 0 || linux::is_alive(record->attendant()))
    return Error(error.number(),
                 fmt::format("{}: choose another id (`ocirun run --bundle BUNDLE ID`), or end and "
                             "remove that container: `ocirun {}delete --force {}`",
                             error.message(), option, id.string()));
  return Error(error.number(),
               fmt::format("{}: the `ocirun run` that attended it, process {}, was killed and left "
                           "it, perhaps running: `ocirun {}delete --force {}` ends and removes it "
                           "(as ExecStopPost= in a unit of systemd's)",
                           error.message(), record->attendant_pid, option, id.string()));
}

}  // namespace ocirun::runtime
