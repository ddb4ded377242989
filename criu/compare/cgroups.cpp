#include "criu/compare/cgroups.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "criu/compare/container_namespaces.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

std::string name_of(const std::string& controllers) {
  return controllers.empty() ? "unified" : controllers;
}

// The cgroup of process `pid` in each hierarchy of `record`. The keys are the controllers.
// /proc/PID/cgroup has the line "0::/PATH" for the unified hierarchy, and lines such as
// "4:memory:/PATH" for other hierarchies.
Result<std::map<std::string, std::string>> read_cgroups(const cgroups::Record& record,
                                                        const linux::Procfs& procfs, int pid) {
  OCIRUN_TRY_ASSIGN(const std::string text, procfs.read(fmt::format("{}/cgroup", pid)));
  std::map<std::string, std::string> paths;
  for (std::string_view line : linux::words(text, '\n')) {
    linux::cut(line, ':');
    const std::string controllers(linux::cut(line, ':'));
    const bool is_ours =
        std::ranges::find(record.directories, controllers,
                          &std::pair<std::string, std::string>::first) != record.directories.end();
    if (is_ours) paths.emplace(controllers, line);
  }
  return paths;
}

}  // namespace

Result<void> compare_cgroups(const cgroups::Record& record, const linux::Procfs& procfs, int pid) {
  if (record.path.empty()) return {};
  OCIRUN_TRY_ASSIGN(const auto paths, read_cgroups(record, procfs, pid));
  for (const auto& [controllers, path] : paths)
    if (path != record.path && !path.starts_with(record.path + "/"))
      return refuse("is in the cgroup {} ({}), outside of the container's cgroup {}", path,
                    name_of(controllers), record.path);
  return {};
}

Result<void> compare_cgroup_root(const cgroups::Record& record, const linux::Procfs& procfs,
                                 int init) {
  if (record.path.empty()) return {};
  OCIRUN_TRY_ASSIGN(const auto outside, read_cgroups(record, procfs, init));
  OCIRUN_TRY_ASSIGN(const UniqueFd cgroup_namespace,
                    linux::open_namespace(procfs.fd(), init, linux::NamespaceKind::kCgroup));
  return in_child("look at the cgroup namespace", [&]() -> Result<void> {
    OCIRUN_TRY(enter_container_namespace(cgroup_namespace, linux::NamespaceKind::kCgroup));
    // The kernel writes each path relative to the root of the reader's cgroup namespace.
    OCIRUN_TRY_ASSIGN(const auto inside, read_cgroups(record, procfs, init));
    for (const auto& [controllers, path] : outside) {
      std::string wanted = path.substr(std::min(record.path.size(), path.size()));
      if (wanted.empty()) wanted = "/";
      const auto found = inside.find(controllers);
      if (found == inside.end() || found->second != wanted)
        return refuse(
            "the root of the cgroup namespace is not the container's cgroup {} ({}): the "
            "container's init sees itself in {}",
            record.path, name_of(controllers), found == inside.end() ? "no cgroup" : found->second);
    }
    return {};
  });
}

}  // namespace ocirun::runtime
