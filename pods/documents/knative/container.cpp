#include <algorithm>
#include <array>

#include "pods/documents/knative/service.hpp"
#include "pods/documents/kubernetes/container_fields.hpp"

namespace ocirun::pods {
namespace {

/// KN-2: the platform sets these in each container. It sets PORT only in the container that has the
/// port (KN-1), which knative_revision() checks.
constexpr std::array<std::string_view, 3> kReserved = {"K_SERVICE", "K_CONFIGURATION",
                                                       "K_REVISION"};

bool port_name(Value at, std::string& out) {
  static constexpr std::array<std::string_view, 2> kNames = {"http1", "h2c"};
  if (!string(at, out)) return false;
  if (out.empty() || std::ranges::find(kNames, out) != kNames.end()) return true;
  bundle::unknown_word(at, "name of a port", kNames);
  return false;
}

constexpr auto kPort = placed(exact_fields<Port>(
    field("name", &Port::name, port_name), required("containerPort", &Port::number, port_number),
    part_unless_empty<std::string>("protocol",
                                   [](Value at, Port&) {
                                     std::string word;
                                     if (!string(at, word)) return false;
                                     if (word == "TCP") return true;
                                     at.problem("must be TCP: requests are HTTP");
                                     return false;
                                   }),
    part("hostPort",
         [](Value at, Port&) {
           at.problem("must not be set: it interferes with automatic scaling");
           return false;
         }),
    not_supported("hostIP", "the port is forwarded from all addresses of the host")));

constexpr auto kContainer =
    container_fields(field("name", &Container::name, dns_label),
                     field("env", &Container::env,
                           [](Value at, std::vector<EnvVariable>& out) {
                             return container_env(at, out, Dialect::kKnative, kReserved);
                           }),
                     field("ports", &Container::ports, list_of(kPort)),
                     field("livenessProbe", &Container::liveness, knative_probe),
                     field("readinessProbe", &Container::readiness, knative_probe),
                     field("startupProbe", &Container::startup, knative_probe),
                     field("resources", &Container::resources, plain_resources),
                     part("securityContext", knative_security));

bool container(Value at, Container& out) { return kContainer(at, out); }

}  // namespace

bool knative_containers(Value at, std::vector<Container>& out) {
  return pod_containers(at, out, container, "user-container");
}
bool knative_init_containers(Value at, std::vector<Container>& out) {
  return pod_containers(at, out, container, "init-container");
}

}  // namespace ocirun::pods
