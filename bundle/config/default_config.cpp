// The document of `ocirun spec`.

#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/config/id_maps.hpp"
#include "bundle/config/oci_version.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using Words = std::vector<std::string_view>;
using OwnMap = std::optional<linux::IdMap>;

void write_process(JsonWriter& out) {
  const Words capabilities{"CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"};
  out.key("process").begin_object();
  out.member("terminal", true);
  out.key("user")
      .begin_object()
      .member("uid", 0)
      .member("gid", 0)
      .member("umask", 022)
      .end_object();
  out.member("args", Words{"sh"});
  out.member("env", Words{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                          "TERM=xterm"});
  out.member("cwd", "/");
  out.key("capabilities").begin_object();
  for (const std::string_view set : {"bounding", "effective", "permitted"})
    out.member(set, capabilities);
  out.end_object();
  out.key("rlimits").begin_array().begin_object();
  out.member("type", "RLIMIT_NOFILE").member("hard", 1024).member("soft", 1024);
  out.end_object().end_array();
  out.member("noNewPrivileges", true);
  out.end_object();
}

struct DefaultMount {
  std::string_view destination, type, source;
  Words options;
};

constexpr const char* kTtyGroup = "gid=5";

bool maps_tty_group(const OwnMap& own_map) {
  const auto tty = Gid::make(5);
  return !own_map || own_map->host_gid(*tty).has_value();
}

/// The default filesystems of config-linux.md (DF-1). The id map of a rootless container may lack
/// the group tty: then devpts gets no gid. A rootless container keeps the host's network namespace,
/// so the kernel refuses to mount a sysfs: /sys is a bind mount.
std::vector<DefaultMount> default_mounts(const OwnMap& own_map) {
  const bool rootless = own_map.has_value();
  Words pts{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"};
  if (maps_tty_group(own_map)) pts.emplace_back(kTtyGroup);
  const DefaultMount sys =
      rootless ? DefaultMount{"/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}}
               : DefaultMount{"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}};
  return {{"/proc", "proc", "proc", {}},
          {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}},
          {"/dev/pts", "devpts", "devpts", pts},
          {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
          {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}},
          sys,
          {"/sys/fs/cgroup", "cgroup", "cgroup", {"nosuid", "noexec", "nodev", "relatime", "ro"}}};
}

void write_mounts(JsonWriter& out, const OwnMap& own_map) {
  out.key("mounts").begin_array();
  for (const DefaultMount& mount : default_mounts(own_map)) {
    out.begin_object();
    out.member("destination", mount.destination);
    out.member("type", mount.type);
    out.member("source", mount.source);
    if (!mount.options.empty()) out.member("options", mount.options);
    out.end_object();
  }
  out.end_array();
}

void write_namespaces(JsonWriter& out, bool rootless, bool cgroup_v2) {
  Words kinds{"pid", "ipc", "uts", "mount"};
  if (!rootless) kinds.insert(kinds.begin() + 1, "network");
  if (cgroup_v2) kinds.emplace_back("cgroup");
  if (rootless) kinds.emplace_back("user");
  out.key("namespaces").begin_array();
  for (const std::string_view kind : kinds) out.begin_object().member("type", kind).end_object();
  out.end_array();
}

}  // namespace

std::string default_config_text(const OwnMap& own_map, bool cgroup_v2) {
  const bool rootless = own_map.has_value();
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.begin_object();
  out.member("ociVersion", kNewestVersion);
  write_process(out);
  out.key("root").begin_object().member("path", "rootfs").member("readonly", true).end_object();
  out.member("hostname", "ocirun");
  write_mounts(out, own_map);
  out.key("linux").begin_object();
  if (rootless) {
    write_id_maps(out, *own_map);
  } else {
    out.key("resources").begin_object().key("devices").begin_array().begin_object();
    out.member("allow", false).member("access", "rwm");
    out.end_object().end_array().end_object();
  }
  write_namespaces(out, rootless, cgroup_v2);
  out.member("maskedPaths",
             Words{"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
                   "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
                   "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"});
  out.member("readonlyPaths",
             Words{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"});
  out.end_object().end_object();
  return std::move(out).take() + "\n";
}

}  // namespace ocirun::bundle
