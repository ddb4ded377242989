#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/container/host_cgroup.hpp"
#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/annotations.hpp"
#include "cgroups/systemd/client.hpp"
#include "cgroups/systemd/limits.hpp"

namespace ocirun::cgroups {

/// The data from which a systemd scope is made.
struct ScopeRequest {
  SystemdInstance instance = SystemdInstance::kSystem;
  std::optional<std::string> cgroups_path;  // slice:prefix:name
  std::string id;
  Resources resources;
  std::map<std::string, std::string> annotations;
};

/// A cgroup that systemd makes, as a transient scope with Delegate=yes. Within it
/// ocirun works as in any other cgroup: it writes all limits to the files, because systemd rounds
/// some values and does not know others. create() and update() also set the limits as properties of
/// the scope, because a `daemon-reload` overwrites the files with systemd's properties.
class SystemdCgroup final : public Cgroup {
 public:
  explicit SystemdCgroup(Record record);
  SystemdCgroup(Record record, std::string slice, ScopeRequest request,
                AnnotatedProperties annotated);

  /// The listener also learns which annotations have no effect.
  void on_dropped_limit(OnDroppedLimit listener) override {
    dropped_annotation_ = listener;
    host_.on_dropped_limit(std::move(listener));
  }
  /// Additional errors: those of D-Bus, a unit of that name that is in use, an annotation of a
  /// property that systemd does not know.
  Result<void> create(std::span<const DeviceRule> devices) override;
  Result<void> check_free() const override { return host_.check_free(); }
  Result<JoinHandles> open_for_join() const override;
  Result<JoinHandles> open_for_join(std::span<const std::string> paths) const override;
  Result<void> adopt(int pid) override;
  /// create() has already set the limits as properties, except a TasksMax too small for the
  /// processes that start the container: apply() sets this TasksMax.
  Result<void> apply(const Resources& resources) override;
  Result<Writes> update(const Resources& resources) override;
  void restore(std::span<const Write> old_values) override;
  Result<void> restrict_devices(std::span<const DeviceRule> devices) override {
    return host_.restrict_devices(devices);
  }
  Result<void> change_devices(std::span<const DeviceRule> old,
                              std::span<const DeviceRule> devices) override;
  Result<void> freeze(FreezerState state) override { return host_.freeze(state); }
  Result<FreezerState> freezer_state() const override { return host_.freezer_state(); }
  Result<void> signal_all(int signal) override { return host_.signal_all(signal); }
  Result<std::vector<int>> pids() const override { return host_.pids(); }
  Result<Stats> stats() const override;
  Result<OomWatch> watch_oom() const override { return host_.watch_oom(); }
  std::optional<std::uint64_t> oom_kills() const override { return host_.oom_kills(); }
  /// Succeeds also when the bus does not answer: systemd ends an empty scope by itself.
  Result<void> destroy() override;
  const Record& record() const override { return host_.record(); }

 private:
  SystemdInstance instance() const;
  CgroupVersion version() const;
  Result<std::vector<UnitProperty>> properties_of(const Resources& resources) const;
  Result<void> tell(const std::vector<UnitProperty>& properties,
                    std::chrono::milliseconds patience = kBusPatience) const;
  Result<void> tell_unseen(const std::vector<UnitProperty>& rules);
  void restore(std::span<const Write> old_values, std::chrono::milliseconds patience);
  Result<void> start(std::span<const DeviceRule> devices);
  Result<HeldScope> start_annotated(std::vector<UnitProperty> properties);
  std::string pointer_of(const UnitProperty& property) const;
  const UnitProperty* named_by(const Error& error) const;
  void tell_of_loss(const std::string& sentence) const {
    if (dropped_annotation_) dropped_annotation_(sentence);
  }

  HostCgroup host_;
  std::string slice_;
  ScopeRequest request_;
  AnnotatedProperties annotated_;
  OnDroppedLimit dropped_annotation_;
  std::vector<UnitProperty> later_;  // properties that create() leaves to apply()
  std::optional<HeldScope> held_;
  bool not_ours_ = false;        // create() failed: an existing scope is another container's
  mutable bool by_bus_ = false;  // adopt() has systemd move the process in: ocirun may not
};

/// Refuses an instance that manages no cgroups on this host: the instance of an ordinary user on
/// cgroup v1.
Result<void> check_manages_cgroups(const Layout& layout, SystemdInstance instance);

/// Prepares a cgroup without making it on the host yet. Asks systemd for the cgroup of its slices.
/// Errors: an invalid cgroups_path or annotation; no systemd; an ordinary user on cgroup v1, where
/// no controller can be delegated.
Result<std::unique_ptr<Cgroup>> make_systemd_cgroup(const Layout& layout, ScopeRequest request);

}  // namespace ocirun::cgroups
