#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// A port of the host that systemd opens for a pod that does not run yet (--activate).
struct Entry {
  std::string address;  // IPv4 or IPv6; "": all addresses of the host
  std::uint16_t port = 0;
  std::string inner_address;  // where the pod is open while it runs
  std::uint16_t inner_port = 0;
};

/// What the units of a pod have to say.
struct UnitPlan {
  std::string pod;
  std::string document;              // the path of the document or the bundle, absolute
  std::vector<std::string> command;  // ExecStart; begins with the absolute path of ocirun
  std::vector<std::string> paths;    // that must be mounted before, absolute
  bool is_of_user = false;           // for the service manager of a user
  std::string home;                  // the absolute home directory of that user; "": none
  std::optional<std::chrono::seconds> start_limit;  // nothing: the start may take any time
  std::chrono::seconds stop_limit{0};
  std::vector<Entry> entries;    // empty: the pod starts with the machine
  std::chrono::seconds idle{0};  // without connections, until a pod with entries is stopped
  std::string proxy;             // the path of systemd-socket-proxyd
};

struct UnitFile {
  std::string name;  // "ocirun-web.service"
  std::string text;
};

/// How the text of the unit `name` begins. A unit that begins otherwise was written by somebody
/// else.
std::string first_words_of_unit(const std::string& name);

/// The units of a pod: its service, and for each entry a socket and the proxy behind it. Errors: a
/// text cannot stand in a unit.
Result<std::vector<UnitFile>> units_of(const UnitPlan& plan);

/// The entries for the ports of a pod. Each leads to a port at an address of the loopback network
/// that belongs to the pod of this name and user. Errors: there is no port; a port is UDP, which
/// systemd-socket-proxyd cannot forward.
Result<std::vector<Entry>> entries_of(const std::string& pod, unsigned user,
                                      const std::vector<Forward>& forwards);

}  // namespace ocirun::pods
