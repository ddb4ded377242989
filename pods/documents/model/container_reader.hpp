#pragma once

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Reads a probe of OAM (OAM-18 … OAM-22): path and port of httpGet are required, a port is a
/// number.
bool oam_probe(Value at, Probe& out);
/// Reads a probe of Kubernetes, also for Radius (RX-13). httpGet may have a scheme, in upper or
/// lower case; its path is "/" unless given. A port may be the name of a port of the container. The
/// probe may have a grace period of its own.
bool kubernetes_probe(Value at, Probe& out);
/// kubernetes_probe() for a readiness probe, whose failure ends nothing: warns of a grace period.
bool kubernetes_readiness_probe(Value at, Probe& out);
/// Reads a probe of Knative (KN-5). The question is tcpSocket unless given, and a missing port is
/// 0.
bool knative_probe(Value at, Probe& out);

/// Replaces the names of ports in the probes of `container` by their numbers. `at` is the value of
/// the container in the document.
void resolve_port_names(Value at, Container& container);

/// Warns of each variable that has the name of an earlier one in the list `at`: as in a container
/// of Kubernetes, the last value counts.
void warn_of_replaced(Value at, const std::vector<EnvVariable>& env);

/// Reads the image of a container, a reference.
bool container_image(Value at, Container& out);

/// The reader of a row whose struct has a Container as member `container`. It reads the value into
/// `member` of the container. An empty text or list is as if the row were absent.
template <typename Member, typename Reader>
constexpr auto of_container(Member Container::* member, Reader reader) {
  return [=](Value at, auto& out) {
    return is_empty_for<Member>(at.node()) || reader(at, out.container.*member);
  };
}
template <typename Member, typename Reader>
constexpr auto of_container(std::optional<Member> Container::* member, Reader reader) {
  return [=](Value at, auto& out) {
    return is_empty_for<Member>(at.node()) || reader(at, (out.container.*member).emplace());
  };
}

}  // namespace ocirun::pods
