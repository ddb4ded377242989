#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/property.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

// What is asked of systemd, through ocirun-systemd, which alone speaks D-Bus. Errors are sentences
// of what systemd or the bus said; a bus that does not answer is one after at most kBusPatience
// (ETIMEDOUT).

/// More than ocirun-systemd has for its sentences.
inline constexpr std::chrono::milliseconds kBusPatience{15'000};

/// systemd itself: its version, and the cgroup that its slices are in ("" for the root).
struct SystemdManager {
  unsigned version = 0;
  std::string control_group;
};
Result<SystemdManager> find_systemd(SystemdInstance instance);

/// A new scope, and the process that keeps it from ending while it has no other: killed and waited
/// for at the end of this object's life.
class HeldScope {
 public:
  /// `StartTransientUnit`, awaited. A unit of that name that has failed or ended is reset first.
  /// Errors: one that is active; a property that systemd does not take.
  static Result<HeldScope> start(SystemdInstance instance, const std::string& unit,
                                 const std::vector<UnitProperty>& properties);
  HeldScope(HeldScope&& other) noexcept;
  HeldScope& operator=(HeldScope&&) = delete;
  ~HeldScope();

  int holder() const { return holder_; }
  const std::string& control_group() const { return control_group_; }

 private:
  HeldScope(int holder, UniqueFd link, std::string control_group);
  int holder_;
  UniqueFd link_;
  std::string control_group_;
};

/// `SetUnitProperties`, until the unit is gone.
Result<void> set_properties(SystemdInstance instance, const std::string& unit,
                            const std::vector<UnitProperty>& properties,
                            std::chrono::milliseconds patience = kBusPatience);
/// `AttachProcessesToUnit`: for a caller that may not move a process there itself.
Result<void> attach_to_unit(SystemdInstance instance, const std::string& unit, int pid);
/// `StopUnit`, `ResetFailedUnit`, and waits until it is gone. One that does not exist is no error.
Result<void> stop_unit(SystemdInstance instance, const std::string& unit);

}  // namespace ocirun::cgroups
