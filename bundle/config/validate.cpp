#include "bundle/config/sections.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "bundle/config/annotations.hpp"
#include "bundle/config/landlock.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using linux::NamespaceKind;

/// The data that the rules read, and the report that the rules write to.
class Check {
 public:
  Check(const Config& config, Value root, std::vector<std::string>& refusals)
      : config_(config),
        root_(root),
        refusals_(refusals),
        has_namespaces_(root.member("linux") && root.member("linux")->member("namespaces")) {}

  const Config& config() const { return config_; }
  const Value& root() const { return root_; }
  bool has(NamespaceKind kind) const { return config_.namespaces.contains(kind); }

  template <typename... Args>
  void problem(std::string_view pointer, fmt::format_string<Args...> format, Args&&... args) const {
    root_.report().problem(
        fmt::format("{}: {}", pointer, fmt::format(format, std::forward<Args>(args)...)));
  }
  template <typename... Args>
  void warning(std::string_view pointer, fmt::format_string<Args...> format, Args&&... args) const {
    root_.report().warning(
        fmt::format("{}: {}", pointer, fmt::format(format, std::forward<Args>(args)...)));
  }
  /// Reports that the value at `pointer` needs a namespace that the container lacks. This is a
  /// problem if the document has /linux/namespaces. Otherwise it is a refusal (Parsed::refusals):
  /// the document may be a fragment, or for another platform, which is valid but cannot be run.
  void needs_namespace(std::string_view pointer, std::string sentence) const {
    if (root_.report().has_problem_below(pointer)) return;
    sentence = fmt::format("{}: {}", pointer, sentence);
    if (has_namespaces_)
      root_.report().problem(std::move(sentence));
    else
      refusals_.push_back(std::move(sentence));
  }
  void needs_namespace(std::string_view pointer, NamespaceKind kind) const {
    needs_namespace(pointer, fmt::format("needs a {0} namespace: add {{\"type\": \"{0}\"}} to"
                                         " /linux/namespaces",
                                         linux::config_name(kind)));
  }
  /// Reports a namespace path that leads to the runtime's own namespace of `kind`. `harm` names the
  /// effect on the host.
  void is_not_own(std::string_view pointer, NamespaceKind kind, std::string_view harm) const {
    const linux::Namespace* entry = config_.namespaces.find(kind);
    if (entry == nullptr) return;
    if (const auto reason = linux::why_not_isolated(*entry, harm))
      needs_namespace(pointer, *reason);
  }

 private:
  const Config& config_;
  Value root_;
  std::vector<std::string>& refusals_;
  bool has_namespaces_;
};

void check_names(const Check& check) {    // T-4, T-5
  constexpr std::size_t kMostBytes = 64;  // __NEW_UTS_LEN
  const Config& config = check.config();
  for (const auto& [pointer, name] :
       {std::pair("/hostname", &config.hostname), std::pair("/domainname", &config.domainname)}) {
    if (name->size() > kMostBytes)
      check.problem(pointer, "has {} bytes, at most {} are possible", name->size(), kMostBytes);
    if (name->empty()) continue;
    if (!check.has(NamespaceKind::kUts)) check.needs_namespace(pointer, NamespaceKind::kUts);
    check.is_not_own(pointer, NamespaceKind::kUts, "the host would be renamed");
  }
}

// L-3: in the runtime's own mount namespace, the change of root would affect the whole host.
void check_mount_namespace(const Check& check) {
  const auto& entries = check.config().namespaces.entries();
  const auto mount = std::ranges::find(entries, NamespaceKind::kMount, &linux::Namespace::kind);
  check.is_not_own(fmt::format("/linux/namespaces/{}/path", mount - entries.begin()),
                   NamespaceKind::kMount, "the host's root would change");
}

void check_sysctls(const Check& check) {  // L-35
  std::map<std::string_view, std::string_view> names;
  for (const linux::Sysctl& sysctl : check.config().sysctls) {
    const auto allowed = linux::check_sysctl(sysctl, check.config().namespaces);
    const std::string pointer = "/linux/sysctl/" + pointer_token(sysctl.name);
    if (!allowed) check.needs_namespace(pointer, reason(allowed.error()));
    if (const std::string& name = check.config().domainname;
        sysctl.path == "kernel/domainname" && !name.empty()) {
      if (sysctl.value == name)
        check.warning(pointer, "/domainname sets the same value: leave one of them out");
      else
        check.problem(pointer,
                      "\"{}\" is not the name \"{}\" in /domainname: leave one of them out",
                      sysctl.value, name);
    }
    const auto [first, is_new] = names.try_emplace(sysctl.path, sysctl.name);
    if (!is_new)
      check.problem(pointer, "is \"{}\" in another spelling: leave one of them out", first->second);
  }
}

void check_user_namespace(const Check& check) {  // L-9
  const Config& config = check.config();
  const linux::IdMap& map = config.id_map;
  if (!check.has(NamespaceKind::kUser)) {
    if (!map.uids.empty()) check.needs_namespace("/linux/uidMappings", NamespaceKind::kUser);
    if (!map.gids.empty()) check.needs_namespace("/linux/gidMappings", NamespaceKind::kUser);
  }
  // A user namespace that is joined by path already has mappings. compare_joined_id_map() compares
  // these mappings with the mappings in the document (L-10).
  if (config.namespaces.creates(NamespaceKind::kUser)) {
    constexpr std::string_view kMissing =
        "is missing: a new user namespace needs at least one mapping";
    if (map.uids.empty()) check.problem("/linux/uidMappings", "{}", kMissing);
    if (map.gids.empty()) check.problem("/linux/gidMappings", "{}", kMissing);
  }
}

void check_mapped_ids(const Check& check) {  // P-19, L-24
  const Config& config = check.config();
  const linux::IdMap& map = config.id_map;
  if (map.uids.empty() || map.gids.empty() || !check.has(NamespaceKind::kUser)) return;
  const auto check_uid = [&](const std::string& pointer, Uid uid) {
    if (!map.host_uid(uid))
      check.problem(pointer, "user id {} is not in /linux/uidMappings", uid.value());
  };
  const auto check_gid = [&](const std::string& pointer, Gid gid) {
    if (!map.host_gid(gid))
      check.problem(pointer, "group id {} is not in /linux/gidMappings", gid.value());
  };
  if (config.process) {
    const User& user = config.process->user;
    check_uid("/process/user/uid", user.uid);
    check_gid("/process/user/gid", user.gid);
    for (std::size_t i = 0; i < user.additional_gids.size(); ++i)
      check_gid(fmt::format("/process/user/additionalGids/{}", i), user.additional_gids[i]);
  }
  // A device of uid 0 and gid 0 needs no mapping: in a user namespace, ocirun bind-mounts the
  // host's device node.
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    if (config.devices[i].uid == Uid{} && config.devices[i].gid == Gid{}) continue;
    check_uid(fmt::format("/linux/devices/{}/uid", i), config.devices[i].uid);
    check_gid(fmt::format("/linux/devices/{}/gid", i), config.devices[i].gid);
  }
}

void check_time_offsets(const Check& check) {  // L-12
  const Config& config = check.config();
  if (config.time_offsets.empty()) return;
  if (!check.has(NamespaceKind::kTime))
    check.needs_namespace("/linux/timeOffsets", NamespaceKind::kTime);
  else if (config.namespaces.joins(NamespaceKind::kTime))
    check.problem("/linux/timeOffsets",
                  "cannot be set for a time namespace that is joined by path, only for a new one");
}

void check_net_devices(const Check& check) {  // L-29
  const auto& devices = check.config().net_devices;
  if (devices.empty()) return;
  if (!check.has(NamespaceKind::kNetwork))
    check.needs_namespace("/linux/netDevices", NamespaceKind::kNetwork);
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (devices[i].container_name == devices[j].container_name &&
          !devices[i].container_name.contains('%'))
        check.problem("/linux/netDevices/" + pointer_token(devices[i].host_name),
                      "would get the name {}, which {} gets already",
                      in_quotes(devices[i].container_name), in_quotes(devices[j].host_name));
}

void check_devices(const Check& check) {  // L-26
  const auto& devices = check.config().devices;
  const auto number = [](const linux::Device& device) {
    return std::tuple(device.kind, device.major, device.minor);
  };
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[i].kind == linux::Device::Kind::kFifo || number(devices[i]) != number(devices[j]))
        continue;
      check.warning(fmt::format("/linux/devices/{}", i), "the same device as /linux/devices/{}", j);
      break;
    }
}

void check_covered_paths(const Check& check) {  // L-33
  const Config& config = check.config();
  if (check.has(NamespaceKind::kMount)) return;
  if (!config.masked_paths.empty())
    check.needs_namespace("/linux/maskedPaths", NamespaceKind::kMount);
  if (!config.readonly_paths.empty())
    check.needs_namespace("/linux/readonlyPaths", NamespaceKind::kMount);
}

void check_mounts(const Check& check) {  // M-8
  const Config& config = check.config();
  for (std::size_t i = 0; i < config.mounts.size(); ++i) {
    const linux::Mount& mount = config.mounts[i];
    if (mount.is_id_mapped() && mount.id_map.empty() && !check.has(NamespaceKind::kUser))
      check.needs_namespace(fmt::format("/mounts/{}/options", i),
                            "idmap without uidMappings and gidMappings of the mount takes the"
                            " container's, and it has no user namespace");
  }
  if (!config.mounts.empty() && !check.has(NamespaceKind::kMount))
    check.warning("/mounts", "without a mount namespace they are made in the host's mount tree");
}

void check_memory(const Check& check) {
  const auto& resources = check.config().resources;
  if (!resources || !resources->memory) return;
  const cgroups::Memory& memory = *resources->memory;
  constexpr std::string_view kSwap = "/linux/resources/memory/swap";
  if (!memory.swap || *memory.swap < 0) return;
  if (!memory.limit || *memory.limit < 0)
    check.problem(kSwap, "is memory and swap together: it needs a memory limit");
  else if (*memory.swap < *memory.limit)
    check.problem(kSwap, "is memory and swap together: {} is less than the memory limit {}",
                  *memory.swap, *memory.limit);
}

void check_cpu(const Check& check) {
  const auto& resources = check.config().resources;
  if (!resources || !resources->cpu) return;
  const cgroups::Cpu& cpu = *resources->cpu;
  if (cpu.burst && cpu.quota && *cpu.quota > 0 &&
      *cpu.burst > static_cast<std::uint64_t>(*cpu.quota))
    check.problem("/linux/resources/cpu/burst", "{} is more than the quota {}", *cpu.burst,
                  *cpu.quota);
}

void check_annotations(const Check& check) {  // T-7, T-8
  const Annotations& annotations = check.config().annotations;
  if (const auto stop = image_annotation(annotations, kStopSignal);
      stop && !parse_stop_signal(*stop))
    check.warning(fmt::format("/annotations/{}", kStopSignal),
                  "{} is not the name of a signal (such as SIGTERM): `kill` sends SIGTERM",
                  in_quotes(*stop));
  if (const auto system = image_annotation(annotations, kImageSystem); system && *system != "linux")
    check.warning(fmt::format("/annotations/{}", kImageSystem),
                  "the image is for {}, not for linux", in_quotes(*system));
  if (const auto rules = landlock_rules(annotations); !rules)
    check.root().report().problem(rules.error().message());
  for (const char* name : {kRecordExit, kCoreScheduling})
    if (const auto asked = is_true(annotations, name); !asked)
      check.root().report().problem(asked.error().message());
  for (auto at = annotations.lower_bound(kOwnPrefix);
       at != annotations.end() && at->first.starts_with(kOwnPrefix); ++at)
    if (at->first != kRecordExit && at->first != kCoreScheduling &&
        !at->first.starts_with(kLandlockPrefix))
      check.problem(fmt::format("/annotations/{}", at->first),
                    "ocirun has no such annotation; it has {}, {}, {}read, .write, .connect, .bind "
                    "and .scope",
                    kRecordExit, kCoreScheduling, kLandlockPrefix);
  if (const auto file = image_annotation(annotations, kCriuConfig); file && !is_criu_config(*file))
    check.warning(fmt::format("/annotations/{}", kCriuConfig),
                  "{} is no absolute path: the annotation has no effect", in_quotes(*file));
}

/// A rule, and the pointer of the section that the rule needs. check_config() skips the rule if the
/// section has a problem: the rule would only report the same problem again.
struct Rule {
  void (*check)(const Check&);
  std::string_view builds_on;
};

constexpr std::string_view kNamespaces = "/linux/namespaces";
constexpr std::array kRules{
    Rule{check_names, kNamespaces},                 // T-4, T-5
    Rule{check_mount_namespace, kNamespaces},       // L-3
    Rule{check_sysctls, kNamespaces},               // L-35
    Rule{check_user_namespace, kNamespaces},        // L-9
    Rule{check_mapped_ids, "/linux"},               // P-19, L-24
    Rule{check_time_offsets, kNamespaces},          // L-12
    Rule{check_net_devices, kNamespaces},           // L-29
    Rule{check_devices, "/linux/devices"},          // L-26
    Rule{check_covered_paths, kNamespaces},         // L-33
    Rule{check_mounts, kNamespaces},                // M-8
    Rule{check_memory, "/linux/resources/memory"},
    Rule{check_cpu, "/linux/resources/cpu"},
    Rule{check_annotations, "/annotations"},        // T-7, T-8
};

}  // namespace

std::vector<std::string> check_config(const Config& config, Value root) {
  std::vector<std::string> refusals;
  const Check check(config, root, refusals);
  for (const Rule& rule : kRules)
    if (!root.report().has_problem_below(rule.builds_on)) rule.check(check);
  return refusals;
}

}  // namespace ocirun::bundle
