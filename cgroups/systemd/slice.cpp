#include "cgroups/systemd/slice.hpp"

#include <algorithm>
#include <csignal>

#include "cgroups/systemd/cgroup.hpp"
#include "cgroups/systemd/client.hpp"

namespace ocirun::cgroups {

Slice::Slice(const Layout& layout, const std::string& path, SystemdInstance instance)
    : host_(std::make_unique<HostCgroup>(planned_record(layout, {path}))),
      version_(layout.pure_v2() ? CgroupVersion::kV2 : CgroupVersion::kV1),
      instance_(instance) {}

Result<Slice> Slice::find(const Layout& layout, const std::string& unit, SystemdInstance instance) {
  OCIRUN_TRY_ASSIGN(const std::string below, expand_slice(unit));
  OCIRUN_TRY(check_manages_cgroups(layout, instance));
  OCIRUN_TRY_ASSIGN(const SystemdManager manager, find_systemd(instance));
  return Slice(layout, manager.control_group + below, instance);
}

std::string Slice::unit() const { return path().substr(path().rfind('/') + 1); }

Result<void> Slice::create(const std::string& description, const Resources& limits) {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, host_->plan_writes(limits));
  std::vector<UnitProperty> properties = slice_properties(description, version_);
  std::ranges::copy(limit_properties(writes, version_), std::back_inserter(properties));
  if (const auto pids = host_->pids(); pids && !pids->empty())
    return refuse("{} is in use: {} processes are in it", unit(), pids->size());
  OCIRUN_TRY(stop_unit(instance_, unit()));
  OCIRUN_TRY_ASSIGN(const std::string control_group, start_slice(instance_, unit(), properties));
  if (control_group == path()) return {};
  ignore(stop_unit(instance_, unit()));
  return refuse("systemd made the cgroup {} of {}, where {} was expected", control_group, unit(),
                path());
}

Result<void> Slice::destroy() {
  // SIGKILL comes before stop_unit(): systemd would send SIGTERM and wait 90 seconds.
  ignore(host_->signal_all(SIGKILL));
  const Result<void> stopped = stop_unit(instance_, unit());
  return stopped ? host_->destroy() : host_->leave_to_systemd();
}

}  // namespace ocirun::cgroups
