#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bundle/json/document.hpp"

namespace ocirun::pods {

struct ExecProbe {
  std::vector<std::string> command;
};
struct HttpHeader {
  std::string name;
  std::string value;
};
struct HttpProbe {
  std::string path = "/";
  std::uint16_t port = 0;
  std::string port_name;  // the name of the port, until resolve_port_names() sets `port`
  bool tls = false;
  std::vector<HttpHeader> headers;
};
struct TcpProbe {
  std::uint16_t port = 0;
  std::string port_name;  // as in HttpProbe
};

/// The period of the readiness probe of a Knative container without a probe (KN-5).
inline constexpr std::chrono::seconds kPlatformPeriod{1};

/// A question that a running container is asked periodically.
struct Probe {
  std::variant<std::monostate, ExecProbe, HttpProbe, TcpProbe> question;
  std::chrono::seconds initial_delay{0};
  std::chrono::seconds period{10};
  std::chrono::seconds timeout{1};
  std::uint32_t success_threshold = 1;  // successes in a row, after a failure
  std::uint32_t failure_threshold = 3;  // failures in a row
  std::optional<std::chrono::seconds> grace =
      {};  // the time from the stop signal after a failure to SIGKILL; nothing: the pod's
  const bundle::Node* place = nullptr;
};

}  // namespace ocirun::pods
