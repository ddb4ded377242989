#pragma once

#include <memory>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/container/record.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// v1, hybrid or v2, as the layout says (systemd's are made by systemd/cgroup.hpp). Nothing is made
/// yet; record() is complete but for created_parents.
Result<std::unique_ptr<Cgroup>> make_cgroup(const Layout& layout, const Placement& placement);
/// The same from what a state file remembers: nothing of it is re-derived. Errors: a record that
/// names anything but directories of cgroupfs, as a damaged or forged one does.
Result<std::unique_ptr<Cgroup>> open_cgroup(Record record);
/// Cgroup::freezer_state() without a Cgroup: opens only the hierarchies that have a freezer.
/// Errors: those of open_cgroup(), for these hierarchies; the cgroup does not exist.
Result<FreezerState> freezer_state_of(const Record& record);
/// `--cgroup-manager=disabled`: every operation does nothing; the process stays where it is.
std::unique_ptr<Cgroup> disabled_cgroup();

}  // namespace ocirun::cgroups
