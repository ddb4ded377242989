#include "pods/run/units/units.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pods/run/units/unit_words.hpp"

namespace ocirun::pods {
namespace {

using std::chrono::seconds;

/// Far longer than the supervisor works without a look at its clock: it waits for no command.
constexpr seconds kWatchdog{300};

/// Outside of the range in which Linux chooses ports for connections (32768 to 60999).
constexpr std::uint16_t kFirstInnerPort = 61000;

std::string service_name(const std::string& pod) { return fmt::format("ocirun-{}.service", pod); }

/// No name of a pod contains "@".
std::string entry_name(const std::string& pod, const Entry& entry, std::string_view ending) {
  return fmt::format("ocirun-{}@{}.{}", pod, entry.port, ending);
}

std::string with_port(const std::string& address, std::uint16_t port) {
  if (address.empty()) return fmt::format("{}", port);
  return address.contains(':') ? fmt::format("[{}]:{}", address, port)
                               : fmt::format("{}:{}", address, port);
}

/// FNV-1a, 32 bits.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::string first_line(const std::string& name, std::string_view what) {
  return fmt::format("{}: {}\n", first_words_of_unit(name), what);
}

constexpr std::string_view kNetworkOfSystem =
    "Wants=network-online.target\n"
    "After=network-online.target\n";

constexpr std::string_view kLingering =
    "# The unit starts at the login of its user and stops at the logout, unless the user lingers:\n"
    "# `loginctl enable-linger USER`.\n";

constexpr std::string_view kService =
    "# READY=1 comes when the pod is started, with --wait-ready when its probes have succeeded.\n"
    "Type=notify\n"
    "NotifyAccess=main\n"
    "# The cgroups of the pod are below the service's; the document sets their limits.\n"
    "Delegate=yes\n"
    "OOMPolicy=continue\n"
    "TasksMax=infinity\n"
    "# SIGTERM goes to the supervisor, which stops the containers in order.\n"
    "KillMode=mixed\n";

constexpr std::string_view kRestart =
    "# The supervisor restarts containers by the document's rule; the unit restarts a supervisor\n"
    "# that was killed or hangs. The status of a pod that has ended restarts nothing.\n"
    "Restart=on-abnormal\n"
    "RestartSec=1s\n";

Result<UnitFile> service_of(const UnitPlan& plan, const UnitWords& words) {
  UnitFile unit{.name = service_name(plan.pod), .text = {}};
  OCIRUN_TRY_ASSIGN(const std::string document, words.write(plan.document, UnitText::kSentence));
  OCIRUN_TRY_ASSIGN(const std::string paths, words.write_all(plan.paths, UnitText::kPath));
  OCIRUN_TRY_ASSIGN(const std::string command,
                    words.write_all(plan.command, UnitText::kCommandWord));
  if (plan.command.front().find_first_of("%$\"'\\ \t") != std::string::npos)
    return refuse("{}: systemd takes no program whose path has blanks, quotes, \"%\" or \"$\"",
                  plan.command.front());
  const bool is_activated = !plan.entries.empty();
  std::string& text = unit.text;
  text = first_line(unit.name, fmt::format("the pod \"{}\"", plan.pod));
  if (plan.is_of_user) text += kLingering;
  text += fmt::format("[Unit]\nDescription=Pod {} ({})\nDocumentation=man:ocirun-pod-unit(8)\n",
                      plan.pod, document);
  if (!plan.is_of_user) text += kNetworkOfSystem;
  text += fmt::format("RequiresMountsFor={}\n", paths);
  if (is_activated)
    text +=
        "# The sockets' services need this one: without them it stops.\n"
        "StopWhenUnneeded=yes\n";
  text += fmt::format("\n[Service]\nExecStart={}\n{}", command, kService);
  text += plan.start_limit ? fmt::format("TimeoutStartSec={}\n", plan.start_limit->count())
                           : std::string("TimeoutStartSec=infinity\n");
  text += fmt::format("TimeoutStopSec={}\nWatchdogSec={}\n{}SyslogIdentifier={}\n",
                      plan.stop_limit.count(), kWatchdog.count(), kRestart, plan.pod);
  if (!is_activated)
    text += fmt::format("\n[Install]\nWantedBy={}\n",
                        plan.is_of_user ? "default.target" : "multi-user.target");
  return unit;
}

UnitFile socket_of(const UnitPlan& plan, const Entry& entry) {
  UnitFile unit{.name = entry_name(plan.pod, entry, "socket"), .text = {}};
  unit.text = first_line(unit.name, fmt::format("port {} of the pod \"{}\"", entry.port, plan.pod));
  unit.text += fmt::format(
      "[Unit]\nDescription=Port {} of the pod "
      "{}\nDocumentation=man:ocirun-pod-unit(8)\n\n[Socket]\n"
      "ListenStream={}\n{}\n[Install]\nWantedBy=sockets.target\n",
      entry.port, plan.pod, with_port(entry.address, entry.port),
      // The address may come later in the boot.
      entry.address.empty() ? "BindIPv6Only=both\n" : "FreeBind=yes\n");
  return unit;
}

UnitFile proxy_of(const UnitPlan& plan, const Entry& entry) {
  UnitFile unit{.name = entry_name(plan.pod, entry, "service"), .text = {}};
  const std::string pod = service_name(plan.pod);
  unit.text = first_line(
      unit.name, fmt::format("connections to port {} of the pod \"{}\"", entry.port, plan.pod));
  unit.text += fmt::format(
      "[Unit]\nDescription=Connections to port {0} of the pod {1}\n"
      "Documentation=man:ocirun-pod-unit(8) man:systemd-socket-proxyd(8)\n"
      "BindsTo={2}\nAfter={2}\n\n[Service]\nType=exec\n"
      "# Ends when there was no connection for so long; then nothing needs the pod any more.\n"
      "ExecStart={3} --exit-idle-time={4}s {5}\nNoNewPrivileges=yes\n{6}",
      entry.port, plan.pod, pod, plan.proxy, plan.idle.count(),
      with_port(entry.inner_address, entry.inner_port), plan.is_of_user ? "" : "DynamicUser=yes\n");
  return unit;
}

}  // namespace

std::string first_words_of_unit(const std::string& name) {
  return fmt::format("# {}, written by `ocirun pod unit`", name);
}

Result<std::vector<UnitFile>> units_of(const UnitPlan& plan) {
  const UnitWords words(plan.is_of_user ? plan.home : "");
  std::vector<UnitFile> units;
  OCIRUN_TRY_ASSIGN(units.emplace_back(), service_of(plan, words));
  for (const Entry& entry : plan.entries) {
    units.push_back(socket_of(plan, entry));
    units.push_back(proxy_of(plan, entry));
  }
  return units;
}

Result<std::vector<Entry>> entries_of(const std::string& pod, unsigned user,
                                      const std::vector<Forward>& forwards) {
  if (forwards.empty())
    return refuse(
        "the document has no port, so that no request could start the pod; --publish "
        "PORT=[IP:]HOSTPORT gives it one");
  const std::uint32_t hash = hash_of(fmt::format("{}:{}", user, pod));
  // 127.0.0.* belongs to other programs; an address does not end with 0 or 255.
  const std::string inner =
      fmt::format("127.{}.{}.{}", 1 + hash % 254, (hash >> 8) % 256, 1 + (hash >> 16) % 254);
  std::vector<Entry> entries;
  for (const Forward& forward : forwards) {
    if (forward.protocol == Protocol::kUdp)
      return refuse(
          "port {}/udp of the host leads to the pod, and systemd-socket-proxyd forwards TCP only",
          forward.host_port);
    entries.push_back({.address = forward.address,
                       .port = forward.host_port,
                       .inner_address = inner,
                       .inner_port = static_cast<std::uint16_t>(kFirstInnerPort + entries.size())});
  }
  return entries;
}

}  // namespace ocirun::pods
