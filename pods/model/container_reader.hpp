#pragma once

#include "pods/model/scalars.hpp"

namespace ocirun::pods {

/// A probe of OAM (OAM-18 … OAM-22): path and port of httpGet are required, a port is a number.
bool oam_probe(Value at, Probe& out);
/// A probe of Kubernetes, for Radius (RX-13): httpGet has also a scheme, in upper or lower case,
/// its path is "/" unless given, a port may be the name of a port of the container, and a container
/// that fails may have a grace period of its own.
bool kubernetes_probe(Value at, Probe& out);
/// The same for Knative (KN-5), where the question is tcpSocket unless given, and the port may be
/// missing: it is 0 then.
bool knative_probe(Value at, Probe& out);

/// Replaces the names of ports in the probes of `container` by their numbers. `at`: the container.
void resolve_port_names(Value at, Container& container);

/// The image of a container: a reference, and its place.
bool container_image(Value at, Container& out);

/// Reads a value into `member` of the container in a struct that has a `container` and what a
/// format says beside it.
template <typename Member, typename Reader>
constexpr auto of_container(Member Container::* member, Reader reader) {
  return [=](Value at, auto& out) { return reader(at, out.container.*member); };
}
template <typename Member, typename Reader>
constexpr auto of_container(std::optional<Member> Container::* member, Reader reader) {
  return [=](Value at, auto& out) { return reader(at, (out.container.*member).emplace()); };
}

}  // namespace ocirun::pods
