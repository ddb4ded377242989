#include "runtime/parent/cgroup_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/plan/plan.hpp"
#include "cgroups/systemd/cgroup.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {
namespace {

/// cgroups(7), "delegation": EACCES and EPERM mean that the cgroup is not delegated to the caller.
bool is_not_ours(const Error& error) { return error.number() == EACCES || error.number() == EPERM; }

/// Warns of resources in config.json that kDisabled ignores, and of a cgroupsPath that
/// doubt_cgroups_path() doubts.
void warn_of_manager(CgroupManager manager, const bundle::Config& config, const Log& log) {
  if (manager == CgroupManager::kDisabled && config.resources)
    log.warn("/linux/resources: has no effect with --cgroup-manager disabled");
  if (const auto doubt = doubt_cgroups_path(config.cgroups_path, manager)) log.warn(*doubt);
}

/// Makes `cgroup` warn of limits that this kernel no longer has. If is_lenient(), refused device
/// rules are logged and are no error.
void tell_of_losses(cgroups::Cgroup& cgroup, const GlobalOptions& options,
                    const bundle::Config& config, const Log& log) {
  const bool has_rules = config.resources && !config.resources->devices.empty();
  if (is_lenient(options))
    cgroup.on_refused_devices([has_rules, &log](const Error& refused) -> Result<void> {
      Error error = refused;
      error.within("device rules are left out: only the host's root may set them");
      has_rules ? log.warn(error.message()) : log.debug(error.message());
      return {};
    });
  cgroup.on_dropped_limit([&log](const std::string& sentence) { log.warn(sentence); });
}

}  // namespace

bool is_lenient(const GlobalOptions& options) {
  return options.rootless == Rootless::kYes ||
         (options.rootless == Rootless::kAuto && !is_host_root());
}

Result<cgroups::Placement> choose_placement(const cgroups::Layout& layout,
                                            const std::optional<std::string>& cgroups_path,
                                            const std::string& id) {
  OCIRUN_TRY_ASSIGN(cgroups::Placement placement, cgroups::place(cgroups_path, id));
  const bool absolute = cgroups_path && cgroups_path->starts_with('/');
  if (absolute || is_host_root()) return placement;
  if (const auto base = cgroups::delegated_cgroup(layout))
    return cgroups::Placement{*base + placement.path};
  return placement;
}

Result<std::unique_ptr<cgroups::Cgroup>> plan_cgroup(const GlobalOptions& options,
                                                     const cgroups::Layout& layout,
                                                     const bundle::Config& config,
                                                     const std::string& id) {
  if (options.cgroup_manager == CgroupManager::kSystemd)
    return cgroups::make_systemd_cgroup(
        layout, {.instance = is_root_outside() ? cgroups::SystemdInstance::kSystem
                                               : cgroups::SystemdInstance::kUser,
                 .cgroups_path = config.cgroups_path,
                 .id = id,
                 .resources = config.resources.value_or(cgroups::Resources{}),
                 .annotations = config.annotations});
  OCIRUN_TRY_ASSIGN(const cgroups::Placement placement,
                    choose_placement(layout, config.cgroups_path, id));
  return cgroups::make_cgroup(layout, placement);
}

std::optional<std::string> doubt_cgroups_path(const std::optional<std::string>& cgroups_path,
                                              CgroupManager manager) {
  if (!cgroups_path || manager != CgroupManager::kCgroupfs) return std::nullopt;
  if (std::ranges::count(*cgroups_path, ':') != 2 || cgroups_path->contains('/') ||
      cgroups_path->ends_with(':'))
    return std::nullopt;
  return fmt::format(
      "/linux/cgroupsPath: \"{}\" looks like systemd's slice:prefix:name; without --systemd-cgroup "
      "(or --cgroup-manager=systemd) it is a path below /ocirun",
      *cgroups_path);
}

std::vector<std::string> asked_limits(const std::optional<cgroups::Resources>& resources) {
  std::vector<std::string> pointers;
  if (!resources) return pointers;
  const cgroups::Host anything{.home = [](std::string_view) { return cgroups::Home::kV1; },
                               .has_v1 = true,
                               .has_unified = true,
                               .current = [](const std::string&) { return std::string(); }};
  const auto writes = cgroups::plan(*resources, anything);
  if (!writes) return {"/linux/resources"};
  for (const cgroups::Write& write : *writes)
    if (write.if_missing != cgroups::IfMissing::kPassOver &&
        std::ranges::find(pointers, write.pointer) == pointers.end())
      pointers.push_back(write.pointer);
  if (!resources->devices.empty()) pointers.emplace_back("/linux/resources/devices");
  return pointers;
}

Result<void> go_without_cgroup(const GlobalOptions& options,
                               const std::optional<cgroups::Resources>& resources,
                               Obstacle obstacle, Error cause, const Log& log) {
  if (is_transient(cause.number())) return std::unexpected(cause.within("make the cgroup"));
  const std::vector<std::string> asked = asked_limits(resources);
  const bool is_not_there = obstacle == Obstacle::kNoHierarchy || cause.number() == EROFS;
  const bool lenient = is_lenient(options) && (is_not_there || is_not_ours(cause));
  const bool loses_nothing = is_not_there && asked.empty() && options.rootless != Rootless::kNo;
  if (lenient || loses_nothing) {
    cause.within(asked.empty() ? "the container has no cgroup of its own"
                               : fmt::format("the container has no cgroup of its own, and these "
                                             "have no effect: {}",
                                             fmt::join(asked, ", ")));
    const bool is_news = !asked.empty() || is_host_root();
    if (is_news)
      log.warn(cause.message());
    else
      log.debug(cause.message());
    return {};
  }
  cause.within("make the cgroup");
  if (is_not_ours(cause) && !is_host_root())
    cause.within(
        "no cgroup is delegated to you (`systemd-run --user --scope -p Delegate=yes` starts "
        "a command in one; --cgroup-manager=disabled runs the container without limits)");
  if (is_not_there && !asked.empty())
    cause.within(
        fmt::format("{}: cannot be applied (--cgroup-manager=disabled runs the container "
                    "without limits)",
                    asked.front()));
  return std::unexpected(std::move(cause));
}

Result<Place> choose_place(const GlobalOptions& options, const bundle::Config& config,
                           const std::string& id, const Log& log) {
  Place place{.layout = {}};
  const auto host = linux::Procfs::of_host();
  auto layout = host ? cgroups::read_layout(*host) : std::unexpected(host.error());
  if (!layout) {
    // A mount may cover /proc or a file of it, and no mount can cover a procfs of our own.
    OCIRUN_TRY_ASSIGN(const linux::Procfs own,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    layout = cgroups::read_layout(own);
  }
  if (layout) place.layout = std::move(*layout);
  warn_of_manager(options.cgroup_manager, config, log);
  if (options.cgroup_manager == CgroupManager::kDisabled) return place;
  if (layout) {
    OCIRUN_TRY_ASSIGN(place.cgroup, plan_cgroup(options, place.layout, config, id));
    tell_of_losses(*place.cgroup, options, config, log);
  } else {
    OCIRUN_TRY(go_without_cgroup(options, config.resources, Obstacle::kNoHierarchy,
                                 std::move(layout).error(), log));
  }
  return place;
}

std::vector<linux::CgroupHierarchy> describe_hierarchies(const cgroups::Layout& layout,
                                                         const cgroups::Record& record) {
  std::vector<linux::CgroupHierarchy> hierarchies;
  for (const cgroups::Hierarchy& hierarchy : layout.hierarchies) {
    std::string controllers;
    for (const std::string& controller : hierarchy.controllers)
      controllers += (controllers.empty() ? "" : ",") + controller;
    const auto own = std::ranges::find(record.directories, controllers,
                                       &std::pair<std::string, std::string>::first);
    const bool named = controllers.starts_with("name=");
    hierarchies.push_back({.name = hierarchy.unified ? "unified"
                                   : named           ? controllers.substr(5)
                                                     : controllers,
                           .options = named ? "none," + controllers : controllers,
                           .unified = hierarchy.unified,
                           // A container without a cgroup of its own stays in the caller's cgroup.
                           .own_directory = HostPath(own == record.directories.end()
                                                         ? hierarchy.mount_point.string() +
                                                               cgroups::shown_path(hierarchy)
                                                         : own->second)});
  }
  return hierarchies;
}

}  // namespace ocirun::runtime
