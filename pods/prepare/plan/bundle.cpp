#include "pods/prepare/plan/bundle.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "bundle/config/id_maps.hpp"
#include "bundle/json/writer.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/process/capabilities.hpp"
#include "pods/prepare/plan/devices.hpp"

namespace ocirun::pods {
namespace {

using bundle::JsonWriter;
using Options = std::vector<std::string>;

/// The default capabilities of a container: enough to change users and owners, and to listen on any
/// port of its own network. None of them reaches the host.
constexpr std::array<std::string_view, 11> kDefaultCapabilities = {
    "CAP_CHOWN",   "CAP_DAC_OVERRIDE",     "CAP_FOWNER",    "CAP_FSETID",
    "CAP_KILL",    "CAP_NET_BIND_SERVICE", "CAP_SETFCAP",   "CAP_SETGID",
    "CAP_SETPCAP", "CAP_SETUID",           "CAP_SYS_CHROOT"};

/// The capabilities that a container has ("CAP_CHOWN" …). Errors: an unknown name.
Result<std::vector<std::string>> kept_capabilities(const Security& security) {
  std::vector<std::string> kept(kDefaultCapabilities.begin(), kDefaultCapabilities.end());
  if (security.retained_capabilities) kept = *security.retained_capabilities;
  for (const std::string& name : security.added_capabilities)
    if (std::ranges::find(kept, name) == kept.end()) kept.push_back(name);
  for (const auto& names : {kept, security.removed_capabilities})
    for (const std::string& name : names)
      if (!linux::capability_number(name)) return refuse("unknown capability \"{}\"", name);
  std::erase_if(kept, [&](const std::string& name) {
    return std::ranges::find(security.removed_capabilities, name) !=
           security.removed_capabilities.end();
  });
  return kept;
}

/// Writes process.capabilities.
void write_capabilities(JsonWriter& out, const std::vector<std::string>& kept) {
  out.key("capabilities").begin_object();
  for (const std::string_view set : {"bounding", "effective", "permitted"}) out.member(set, kept);
  out.end_object();
}

void write_process(JsonWriter& out, const BundlePlan& plan, const Options& capabilities) {
  const Launch& launch = plan.launch;
  out.key("process").begin_object().member("terminal", false);
  out.key("user").begin_object();
  out.member("uid", launch.account.uid.value()).member("gid", launch.account.gid.value());
  out.member("umask", 022);
  const std::vector<Gid> groups = groups_with_devices(plan);
  if (!groups.empty()) {
    out.key("additionalGids").begin_array();
    for (const Gid gid : groups) out.value(gid.value());
    out.end_array();
  }
  out.end_object();
  out.member("args", launch.args).member("env", env_with_devices(plan)).member("cwd", launch.cwd);
  write_capabilities(out, capabilities);
  if (plan.security.no_new_privileges)
    out.member("noNewPrivileges", *plan.security.no_new_privileges);
  if (plan.security.oom_score_adj) out.member("oomScoreAdj", *plan.security.oom_score_adj);
  if (!plan.security.apparmor_profile.empty())
    out.member("apparmorProfile", plan.security.apparmor_profile);
  if (!plan.security.selinux_label.empty()) out.member("selinuxLabel", plan.security.selinux_label);
  out.end_object();
}

void write_mount(JsonWriter& out, std::string_view destination, std::string_view type,
                 std::string_view source, const Options& options) {
  out.begin_object()
      .member("destination", destination)
      .member("type", type)
      .member("source", source);
  if (!options.empty()) out.member("options", options);
  out.end_object();
}

/// A read-only bind gets both "ro" and "rro". "ro" protects only the top mount; "rro" of
/// specification 1.1 also protects the mounts below, but older runtimes do not know it.
Options bind_options(const BoundPath& bound) {
  Options options{bound.recursive ? "rbind" : "bind", "rprivate"};
  if (!bound.read_only) return options;
  options.emplace_back("ro");
  if (bound.recursive) options.emplace_back("rro");
  return options;
}

void write_mounts(JsonWriter& out, const BundlePlan& plan) {
  out.key("mounts").begin_array();
  write_mount(out, "/proc", "proc", "proc", {"nosuid", "noexec", "nodev"});
  write_mount(out, "/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"});
  Options terminals{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"};
  if (plan.powers.tty_group) terminals.emplace_back("gid=5");
  write_mount(out, "/dev/pts", "devpts", "devpts", terminals);
  write_mount(out, "/dev/shm", "tmpfs", "shm",
              {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"});
  write_mount(out, "/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"});
  if (plan.powers.sysfs)
    write_mount(out, "/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"});
  else
    write_mount(out, "/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "rro"});
  write_mount(out, "/sys/fs/cgroup", "cgroup", "cgroup",
              {"nosuid", "noexec", "nodev", "relatime", "ro"});
  for (const MemoryDirectory& directory : plan.in_memory) {
    Options options{"nosuid", "nodev", fmt::format("mode={:o}", directory.mode)};
    if (directory.most_bytes) options.push_back(fmt::format("size={}", *directory.most_bytes));
    write_mount(out, directory.destination, "tmpfs", "tmpfs", options);
  }
  // A mount above another one comes first, however the document orders them.
  std::vector<DeviceMount> mounts = mounts_of_devices(plan);
  for (const BoundPath& path : plan.bound)
    mounts.push_back({.source = path.source,
                      .destination = path.destination,
                      .type = "bind",
                      .options = bind_options(path)});
  std::ranges::sort(mounts, {}, [](const DeviceMount& mount) {
    return std::pair(std::ranges::count(mount.destination, '/'), mount.destination);
  });
  for (const DeviceMount& mount : mounts)
    write_mount(out, mount.destination, mount.type, mount.source, mount.options);
  out.end_array();
}

void write_namespaces(JsonWriter& out, const BundlePlan& plan) {
  const SharedNamespaces& shared = plan.shared;
  const auto write = [&](std::string_view type, const std::string& path) {
    out.begin_object().member("type", type);
    if (!path.empty()) out.member("path", path);
    out.end_object();
  };
  out.key("namespaces").begin_array();
  write("mount", "");
  write("cgroup", "");
  write("pid", shared.pid);
  write("ipc", shared.ipc);
  write("uts", shared.uts);
  if (!shared.host_network) write("network", shared.network);
  if (!plan.ids.empty()) write("user", "");
  out.end_array();
  if (plan.ids.empty()) return;
  bundle::write_id_maps(out, plan.ids);
}

void write_resources(JsonWriter& out, const BundlePlan& plan) {
  const Amounts& requests = plan.resources.requests;
  Amounts limits = plan.resources.limits;
  if (plan.requests == Requests::kHard) {
    if (!limits.cpus) limits.cpus = requests.cpus;
    if (!limits.memory) limits.memory = requests.memory;
  }
  out.key("resources").begin_object();
  if (plan.powers.device_rules) {
    out.key("devices").begin_array().begin_object();
    out.member("allow", false).member("access", "rwm").end_object();
    write_device_rules(out, plan);
    out.end_array();
  }
  if (limits.memory || requests.memory) {
    out.key("memory").begin_object();
    if (limits.memory) out.member("limit", *limits.memory);
    if (requests.memory) out.member("reservation", *requests.memory);
    out.end_object();
  }
  if (limits.cpus || requests.cpus || plan.security.cpu_shares) {
    constexpr double kMostShares = 262'144;
    out.key("cpu").begin_object();
    if (plan.security.cpu_shares)
      out.member("shares", *plan.security.cpu_shares);
    else if (requests.cpus)
      out.member("shares",
                 static_cast<std::uint64_t>(std::clamp(*requests.cpus * 1024, 2.0, kMostShares)));
    if (limits.cpus)
      out.member("quota", cgroups::quota_of(*limits.cpus)).member("period", cgroups::kUsualPeriod);
    out.end_object();
  }
  out.end_object();
}

/// The files of /proc and /sys that tell about the host or change it (the engines' common list).
void write_hidden_paths(JsonWriter& out) {
  out.member("maskedPaths",
             Options{"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys",
                     "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
                     "/proc/timer_stats", "/sys/dev/block", "/sys/devices/virtual/powercap",
                     "/sys/firmware", "/sys/fs/selinux"});
  out.member("readonlyPaths",
             Options{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"});
}

}  // namespace

Result<std::string> config_text(const BundlePlan& plan) {
  OCIRUN_TRY_ASSIGN(const Options capabilities, kept_capabilities(plan.security));
  JsonWriter out(JsonWriter::Layout::kIndented);
  const auto& rdt = plan.devices.rdt;
  const bool needs_newer = rdt && (rdt->enable_monitoring || !rdt->schemata.empty());
  out.begin_object().member("ociVersion", needs_newer ? "1.3.0" : "1.0.2");
  write_process(out, plan, capabilities);
  out.key("root").begin_object().member("path", plan.root);
  out.member("readonly", plan.read_only_root).end_object();
  if (!plan.hostname.empty() && plan.shared.uts.empty()) out.member("hostname", plan.hostname);
  write_mounts(out, plan);
  write_hooks(out, plan);
  if (!plan.launch.annotations.empty()) out.member("annotations", plan.launch.annotations);
  out.key("linux").begin_object();
  if (!plan.cgroups_path.empty()) out.member("cgroupsPath", plan.cgroups_path);
  write_namespaces(out, plan);
  write_devices(out, plan);
  if (plan.powers.cgroup) write_resources(out, plan);
  OCIRUN_TRY(write_seccomp(out, plan.security, capabilities, plan.seccomp));
  write_hidden_paths(out);
  out.end_object().end_object();
  return std::move(out).take();
}

}  // namespace ocirun::pods
