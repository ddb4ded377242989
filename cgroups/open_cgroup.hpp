#pragma once

#include <memory>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/container/record.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// The cgroup at `placement` in the hierarchies of `layout`, not yet made on the host. Its record()
/// is complete except for created_parents. For cgroups of systemd there is make_systemd_cgroup().
Result<std::unique_ptr<Cgroup>> make_cgroup(const Layout& layout, const Placement& placement);
/// The cgroup that a state file records; nothing in `record` is derived anew. Refuses a record that
/// names anything but directories of cgroupfs, as a damaged or forged record does.
Result<std::unique_ptr<Cgroup>> open_cgroup(Record record);
/// Cgroup::freezer_state() without a Cgroup: opens only the hierarchies that have a freezer.
/// Errors: those of open_cgroup(), for these hierarchies; the cgroup does not exist.
Result<FreezerState> freezer_state_of(const Record& record);
/// `--cgroup-manager=disabled`: every operation does nothing and succeeds, but watch_oom() fails.
/// The container's processes stay in the runtime's own cgroup.
std::unique_ptr<Cgroup> disabled_cgroup();

}  // namespace ocirun::cgroups
