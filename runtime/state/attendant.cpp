#include "runtime/state/attendant.hpp"

#include "linux/process/pidfd.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

Error explain_taken_id(const Store& store, const ContainerId& id, Error error) {
  const auto directory = store.find(id);
  const auto record = directory && is_callers(*directory)
                          ? directory->read_record()
                          : Result<bundle::ContainerRecord>(refuse("another user's"));
  if (!record || record->attendant_pid == 0 ||
      linux::is_alive({record->attendant_pid, record->attendant_start_time}))
    return error;
  return Error(error.number(),
               fmt::format("{}: the `ocirun run` that attended it, process {}, was killed and left "
                           "it: `ocirun delete --force {}` removes it (as ExecStopPost= in a unit "
                           "of systemd's)",
                           error.message(), record->attendant_pid, id.string()));
}

}  // namespace ocirun::runtime
