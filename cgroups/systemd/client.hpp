#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/property.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

// Requests to systemd. They go through the program ocirun-systemd, which alone speaks D-Bus. The
// errors are the sentences of systemd or of the bus. A bus that does not answer is an error
// (ETIMEDOUT) after at most kBusPatience.

/// How long ocirun waits for ocirun-systemd: longer than the limit of ocirun-systemd for a
/// conversation (Bus::kPatience).
inline constexpr std::chrono::milliseconds kBusPatience{15'000};

/// The version of systemd, and the cgroup of its slices ("" for the root).
struct SystemdManager {
  unsigned version = 0;
  std::string control_group;
};
Result<SystemdManager> find_systemd(SystemdInstance instance);

/// A new scope and its holder: a process that keeps the scope from ending while it has no other
/// process. The destructor kills the holder and waits for it.
class HeldScope {
 public:
  /// Calls `StartTransientUnit`, and returns when the scope runs. A unit of that name that has
  /// failed, has ended or is ending is reset first. Errors: a unit of that name is active; systemd
  /// refuses a property.
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

/// Calls `StartTransientUnit` for a slice, and returns the cgroup of the slice. The slice exists
/// until stop_unit(). Errors: a unit of that name is active; systemd refuses a property.
Result<std::string> start_slice(SystemdInstance instance, const std::string& unit,
                                const std::vector<UnitProperty>& properties);

/// Calls `SetUnitProperties`. The properties last as long as the unit; systemd does not write them
/// to the disk.
Result<void> set_properties(SystemdInstance instance, const std::string& unit,
                            const std::vector<UnitProperty>& properties,
                            std::chrono::milliseconds patience = kBusPatience);
/// Calls `AttachProcessesToUnit`, for a caller that may not move process `pid` into the cgroup.
Result<void> attach_to_unit(SystemdInstance instance, const std::string& unit, int pid);
/// Calls `StopUnit` and `ResetFailedUnit`, and returns when the unit is gone. A unit that does not
/// exist is no error.
Result<void> stop_unit(SystemdInstance instance, const std::string& unit);

}  // namespace ocirun::cgroups
