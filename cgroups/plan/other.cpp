#include <fmt/format.h>
#include <algorithm>

#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

Result<void> plan_network(const Resources& resources, Writes& writes) {
  if (!resources.network) return {};
  if (resources.network->class_id)
    writes.push_back({.controller = "net_cls",
                      .file = "net_cls.classid",
                      .value = fmt::to_string(*resources.network->class_id),
                      .pointer = "/linux/resources/network/classID",
                      .if_missing = *resources.network->class_id == 0 ? IfMissing::kPassOver
                                                                      : IfMissing::kError});
  const auto& priorities = resources.network->priorities;
  for (std::size_t i = 0; i < priorities.size(); ++i)
    writes.push_back(
        {.controller = "net_prio",
         .file = "net_prio.ifpriomap",
         .value = fmt::format("{} {}", priorities[i].name, priorities[i].priority),
         .pointer = fmt::format("/linux/resources/network/priorities/{}", i),
         .if_missing = priorities[i].priority == 0 ? IfMissing::kPassOver : IfMissing::kError});
  return {};
}

Result<void> plan_unified(const Resources& resources, const Host& host, Writes& writes) {
  // These files belong to the runtime: a container that is frozen or killed by them would never
  // start.
  constexpr std::string_view kOurs[] = {"cgroup.procs", "cgroup.threads", "cgroup.freeze",
                                        "cgroup.kill"};
  for (const auto& [file, value] : resources.unified) {
    const std::string pointer = fmt::format("/linux/resources/unified/{}", file);
    const std::size_t dot = file.find('.');
    if (file.contains('/') || file.contains('\0') || dot == std::string::npos || dot == 0)
      return refuse(
          "{}: must be the name of a file in the cgroup, \"controller.setting\" without \"/\"",
          pointer);
    if (contains(kOurs, file))
      return refuse("{}: processes, freezing and killing are the runtime's business", pointer);
    if (!host.has_unified)
      return refuse("{}: this host has no unified (v2) hierarchy to write it in", pointer);
    std::string controller = file.substr(0, dot);
    // "cgroup.*" and pressure files belong to no controller.
    if (controller == "cgroup" || file.ends_with(".pressure")) controller.clear();
    if (!controller.empty() && host.home(controller) != Home::kUnified)
      return refuse("{}: the {} controller is not available in the unified hierarchy{}", pointer,
                    controller,
                    host.home(controller) == Home::kV1 ? ": this host mounts it as cgroup v1" : "");
    for (const std::string_view line : words(value, '\n'))
      writes.push_back(
          {.controller = controller, .file = file, .value = std::string(line), .pointer = pointer});
  }
  return {};
}

}  // namespace ocirun::cgroups
