#include "cgroups/systemd/cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/resources.hpp"
#include "cgroups/statistics/stats.hpp"
#include "cgroups/systemd/annotations.hpp"
#include "cgroups/systemd/limits.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {
namespace {

/// The time limit of the request that restores old values after a failed request. The limit is
/// short because systemd may not answer at all.
constexpr std::chrono::milliseconds kPatienceAfterFailure{1000};

/// The CPU period of the container's v1 cgroup in microseconds; otherwise kUsualPeriod.
std::uint64_t cpu_period(const Record& record) {
  for (const auto& [controllers, path] : record.directories) {
    if (!contains(words(controllers, ','), std::string_view("cpu"))) continue;
    const Result<Directory> directory = Directory::open(path);
    if (directory)
      return number(directory->read_or_empty("cpu.cfs_period_us")).value_or(kUsualPeriod);
  }
  return kUsualPeriod;
}

/// Whether TasksMax is too small to start the container. For a moment, three processes are in the
/// scope: ocirun-systemd, a process that creates the container, and the container's init.
bool leaves_no_room(const UnitProperty& property) {
  constexpr std::uint64_t kTogether = 3;
  return property.name == "TasksMax" &&
         number(property.values.front()).value_or(kTogether) < kTogether;
}

/// Whether the runtime may move a process from the runtime's own cgroup into the container's
/// cgroup. The kernel demands write access to cgroup.procs of the common ancestor of both cgroups
/// (cgroups(7)). An ordinary user's login session is outside the cgroup of the user's systemd.
bool may_move_into(const Record& record) {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return true;
  const auto layout = read_layout(*procfs);
  if (!layout || layout->hierarchies.empty()) return true;
  const Hierarchy& unified = layout->hierarchies.front();
  const auto own = words(unified.own_path, '/');
  const auto theirs = words(record.path, '/');
  std::string common = unified.mount_point.string();
  for (std::size_t i = 0; i < std::min(own.size(), theirs.size()) && own[i] == theirs[i]; ++i)
    common += fmt::format("/{}", own[i]);
  const Result<Directory> directory = Directory::open(common);
  return directory && directory->open_file("cgroup.procs", O_WRONLY).has_value();
}

}  // namespace

SystemdCgroup::SystemdCgroup(Record record) : host_(std::move(record)) {}

SystemdCgroup::SystemdCgroup(Record record, std::string slice, ScopeRequest request,
                             AnnotatedProperties annotated)
    : host_(std::move(record)),
      slice_(std::move(slice)),
      request_(std::move(request)),
      annotated_(std::move(annotated)) {}

SystemdInstance SystemdCgroup::instance() const {
  return record().user_instance ? SystemdInstance::kUser : SystemdInstance::kSystem;
}

CgroupVersion SystemdCgroup::version() const {
  const bool pure_v2 =
      record().directories.size() == 1 && record().directories.front().first.empty();
  return pure_v2 ? CgroupVersion::kV2 : CgroupVersion::kV1;
}

Result<std::vector<UnitProperty>> SystemdCgroup::properties_of(const Resources& resources) const {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, host_.plan_writes(resources));
  return limit_properties(writes, version(), cpu_period(record()));
}

/// The pointer of the annotation that gave `property`.
std::string SystemdCgroup::pointer_of(const UnitProperty& property) const {
  std::string key = fmt::format("{}{}", kPropertyAnnotation, property.name);
  // annotated_properties() renamed a property "…Sec" of config.json to "…USec".
  if (!request_.annotations.contains(key)) key.replace(key.size() - 4, 4, "Sec");
  return "/annotations/" + key;
}

/// The annotation whose property systemd's error names; nullptr if none. systemd names an unknown
/// property, and does not name a property with a refused value.
const UnitProperty* SystemdCgroup::named_by(const Error& error) const {
  const std::string text = error.message();
  const auto& all = annotated_.properties;
  const auto found = std::ranges::find_if(
      all, [&](const UnitProperty& property) { return text.contains(property.name); });
  return found == all.end() ? nullptr : &*found;
}

/// Starts the scope. systemd may refuse it for the value of one annotation: then the scope starts
/// without that annotation, and the listener is told. The other annotations are never left out.
Result<HeldScope> SystemdCgroup::start_annotated(std::vector<UnitProperty> properties) {
  for (const std::string& sentence : annotated_.left_out) tell_of_loss(sentence);
  std::vector<UnitProperty> all = properties;
  std::ranges::copy(annotated_.properties, std::back_inserter(all));  // they override the limits
  auto held = HeldScope::start(instance(), record().unit, all);
  if (held || annotated_.properties.empty() || !held.error().message().contains("systemd refuses"))
    return held;
  // The error names the annotation: a user knows annotations, not properties.
  if (const UnitProperty* unknown = named_by(held.error()))
    return std::unexpected(std::move(held).error().within(pointer_of(*unknown)));
  for (std::size_t i = properties.size(); i < all.size(); ++i) {
    std::vector<UnitProperty> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    auto without = HeldScope::start(instance(), record().unit, others);
    if (!without) continue;
    tell_of_loss(fmt::format("{}: has no effect: {}", pointer_of(all[i]), held.error().message()));
    return without;
  }
  return held;
}

Result<void> SystemdCgroup::start(std::span<const DeviceRule> devices) {
  std::vector<UnitProperty> properties = scope_properties(slice_, request_.id, version());
  OCIRUN_TRY_ASSIGN(const std::vector<UnitProperty> limits, properties_of(request_.resources));
  std::ranges::partition_copy(limits, std::back_inserter(later_), std::back_inserter(properties),
                              leaves_no_room);
  if (version() == CgroupVersion::kV1) {
    OCIRUN_TRY_ASSIGN(const std::vector<UnitProperty> rules, device_properties(devices));
    std::ranges::copy(rules, std::back_inserter(properties));
  }
  OCIRUN_TRY_ASSIGN(HeldScope held, start_annotated(std::move(properties)));
  held_.emplace(std::move(held));
  return {};
}

Result<void> SystemdCgroup::create(std::span<const DeviceRule> devices) {
  not_ours_ = true;
  OCIRUN_TRY(start(devices));
  const auto complete = [&]() -> Result<void> {
    if (held_->control_group() != record().path)
      return refuse("systemd made the cgroup {} of {}, where {} was expected",
                    held_->control_group(), record().unit, record().path);
    host_.expect(held_->holder());
    host_.on_refused_devices(refused_devices_);
    return host_.create(devices);
  };
  Result<void> completed = complete();
  not_ours_ = !completed;
  if (completed) return completed;
  held_.reset();
  ignore(stop_unit(instance(), record().unit));
  return completed;
}

Result<Cgroup::JoinHandles> SystemdCgroup::open_for_join() const { return open_for_join({}); }

Result<Cgroup::JoinHandles> SystemdCgroup::open_for_join(std::span<const std::string> paths) const {
  OCIRUN_TRY_ASSIGN(JoinHandles handles, host_.open_for_join(paths));
  by_bus_ = record().user_instance && !may_move_into(record());
  if (by_bus_) handles.unified_directory.reset();
  return handles;
}

Result<void> SystemdCgroup::adopt(int pid) {
  if (by_bus_) OCIRUN_TRY(attach_to_unit(instance(), record().unit, pid));
  if (!held_) return {};
  // On cgroup v1, systemd watches the name=systemd hierarchy and removes an empty scope. Init joins
  // the hierarchies only later, so adopt() moves init now.
  for (const auto& [controllers, path] : record().directories) {
    if (controllers != "name=systemd") continue;
    OCIRUN_TRY_ASSIGN(const Directory directory, Directory::open(path));
    OCIRUN_TRY(directory.write("cgroup.procs", fmt::to_string(pid)));
  }
  held_.reset();
  return {};
}

Result<void> SystemdCgroup::tell(const std::vector<UnitProperty>& properties,
                                 std::chrono::milliseconds patience) const {
  return properties.empty() ? Result<void>{}
                            : set_properties(instance(), record().unit, properties, patience);
}

Result<void> SystemdCgroup::apply(const Resources& resources) {
  OCIRUN_TRY(tell(std::exchange(later_, {})));
  return host_.apply(resources);
}

Result<Writes> SystemdCgroup::update(const Resources& resources) {
  OCIRUN_TRY_ASSIGN(const std::vector<UnitProperty> properties, properties_of(resources));
  OCIRUN_TRY_ASSIGN(Writes old_values, host_.update(resources));
  Result<void> told = tell(properties);
  // systemd has written its own, partly rounded values to the cgroup's files.
  if (told && !properties.empty()) told = host_.apply(resources);
  if (told) return old_values;
  restore(old_values, kPatienceAfterFailure);
  return std::unexpected(std::move(told).error());
}

void SystemdCgroup::restore(std::span<const Write> old_values) {
  restore(old_values, kBusPatience);
}

void SystemdCgroup::restore(std::span<const Write> old_values, std::chrono::milliseconds patience) {
  ignore(tell(limit_properties(old_values, version(), cpu_period(record())), patience));
  host_.restore(old_values);
}

Result<void> SystemdCgroup::change_devices(std::span<const DeviceRule> old,
                                           std::span<const DeviceRule> devices) {
  if (version() == CgroupVersion::kV2) return host_.change_devices(old, devices);
  OCIRUN_TRY_ASSIGN(const std::vector<UnitProperty> rules, device_properties(devices));
  OCIRUN_TRY(host_.change_devices(old, devices));
  Result<void> told = tell_unseen(rules);
  if (!told) ignore(host_.change_devices(devices, old));
  return told;
}

/// Sends device rules to systemd while the container is frozen. systemd first denies all devices: a
/// running process could then fail to open an allowed device.
Result<void> SystemdCgroup::tell_unseen(const std::vector<UnitProperty>& rules) {
  OCIRUN_TRY_ASSIGN(const FreezerState before, host_.freezer_state());
  OCIRUN_TRY(host_.freeze(FreezerState::kFrozen));
  Result<void> told = tell(rules);
  if (before == FreezerState::kFrozen) return told;
  Result<void> thawed = host_.freeze(FreezerState::kThawed);
  return told ? thawed : told;
}

Result<Stats> SystemdCgroup::stats() const { return host_.stats(); }

Result<void> SystemdCgroup::destroy() {
  if (not_ours_) return {};
  held_.reset();
  // SIGKILL comes before stop_unit(): systemd would send SIGTERM and wait 90 seconds.
  ignore(host_.signal_all(SIGKILL));
  const Result<void> stopped = stop_unit(instance(), record().unit);
  return stopped ? host_.destroy() : host_.leave_to_systemd();
}

Result<void> check_manages_cgroups(const Layout& layout, SystemdInstance instance) {
  if (instance == SystemdInstance::kSystem || layout.pure_v2()) return {};
  return refuse(
      "the systemd cgroup manager: an ordinary user's systemd manages cgroups on hosts with "
      "cgroup v2 alone, and this one mounts v1: use --cgroup-manager=cgroupfs or disabled");
}

Result<std::unique_ptr<Cgroup>> make_systemd_cgroup(const Layout& layout, ScopeRequest request) {
  OCIRUN_TRY_ASSIGN(ScopeName scope,
                    name_scope(request.cgroups_path, request.id, request.instance));
  OCIRUN_TRY_ASSIGN(const std::string slices, expand_slice(scope.slice));
  OCIRUN_TRY_ASSIGN(AnnotatedProperties annotated, annotated_properties(request.annotations));
  OCIRUN_TRY(check_manages_cgroups(layout, request.instance));
  OCIRUN_TRY_ASSIGN(const SystemdManager manager, find_systemd(request.instance));
  Record record =
      planned_record(layout, {fmt::format("{}{}/{}", manager.control_group, slices, scope.unit)});
  record.unit = scope.unit;
  record.user_instance = request.instance == SystemdInstance::kUser;
  return std::make_unique<SystemdCgroup>(std::move(record), std::move(scope.slice),
                                         std::move(request), std::move(annotated));
}

}  // namespace ocirun::cgroups
