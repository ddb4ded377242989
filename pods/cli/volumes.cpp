#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "bundle/json/writer.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/state/request.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kVolumesOptions{
    kFormatOption,
    kDataOption,
};

/// The pods of each volume that ocirun keeps, also those that have ended and may be started again.
using Users = std::map<std::string, std::vector<std::string>>;

/// The volumes that a pod was run with.
Result<std::vector<std::string>> volumes_of(const PodDirectory& pod) {
  std::vector<std::string> names;
  const auto request = read_request(pod.fd());
  if (!request && request.error().number() == ENOENT) return names;
  if (!request) return std::unexpected(request.error());
  OCIRUN_TRY_ASSIGN(const Arguments arguments, bundle::cli::parse(kProgram, kRun, request->words));
  for (std::string_view text : arguments.values("volume"))
    if (!text.contains('=')) names.emplace_back(linux::cut(text, ':'));
  if (arguments.has("profile")) return names;
  // The claims of a document of Kubernetes. A name too many only keeps a volume.
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ignored, read_ignored(arguments));
  const Workload workload =
      read_workload(shown_name(arguments.operands().front()), request->text, ignored);
  for (const Volume& volume : workload.pod.volumes)
    if (volume.is_claimed && std::ranges::find(names, volume.source) == names.end())
      names.push_back(volume.source);
  return names;
}

/// Fails if the request of a pod cannot be read, because the pod might use any volume.
Result<Users> find_users(const HostPath& data) {
  Users users;
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> volumes, kept_volumes(data));
  for (const std::string& name : volumes) users[name];
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, pods.names());
  for (const std::string& name : names) {
    const auto pod = pods.open_pod(name);
    if (!pod && pod.error().number() == ENOENT) continue;  // deleted meanwhile
    if (!pod) return std::unexpected(pod.error());
    OCIRUN_TRY_ASSIGN(const auto used, within(volumes_of(*pod), "pod {}", name));
    for (const std::string& volume : used)
      if (users.contains(volume)) users[volume].push_back(name);
  }
  return users;
}

Result<void> remove_volumes(const HostPath& data, const Users& users,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto used = users.find(name);
    if (used != users.end() && !used->second.empty())
      return refuse("the volume \"{}\" belongs to {}: `ocirun pod delete` first", name,
                    fmt::join(used->second, ", "));
    OCIRUN_TRY(remove_kept_volume(data, name));
  }
  return {};
}

Result<void> print_volumes(const Users& users, bool json) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_array();
  std::string text;
  for (const auto& [name, pods] : users) {
    out.begin_object().member("name", name).member("pods", pods).end_object();
    text += fmt::format("{}{}{}\n", name, pods.empty() ? "" : "  ", fmt::join(pods, " "));
  }
  return print(json ? std::move(out.end_array()).take() + "\n" : text);
}

Result<int> volumes(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const bool json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  const auto& operands = arguments.operands();
  const std::string command = operands.empty() ? "list" : operands.front();
  const std::vector<std::string> names(operands.begin() + (operands.empty() ? 0 : 1),
                                       operands.end());
  if (command != "list" && command != "remove" && command != "prune")
    return refuse("\"{}\": must be list, remove or prune", command);
  if (command == "remove" && names.empty())
    return refuse("remove: the names of volumes are missing");
  if (command != "remove" && !names.empty()) return refuse("{} takes no names of volumes", command);
  OCIRUN_TRY_ASSIGN(Users users, find_users(data));
  if (command == "remove") {
    OCIRUN_TRY(remove_volumes(data, users, names));
    return 0;
  }
  if (command == "prune") {
    std::erase_if(users, [](const auto& volume) { return !volume.second.empty(); });
    for (const auto& [name, pods] : users) OCIRUN_TRY(remove_kept_volume(data, name));
  }
  OCIRUN_TRY(print_volumes(users, json));
  return 0;
}

}  // namespace

const Command kVolumes{
    {"volumes",
     "[list | prune | remove VOLUME...]",
     "list the volumes that stay when their pods are deleted; prune removes those that no pod has",
     kVolumesOptions,
     {0, kAnyNumber},
     {Operand{Completes::kWords}, Operand{.completes = Completes::kVolume, .times = Times::kMany}}},
    volumes,
    Rights::kRoot};

}  // namespace ocirun::pods::cli
