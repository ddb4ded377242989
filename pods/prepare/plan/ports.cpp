#include "pods/prepare/plan/ports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "linux/base/text.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

std::optional<std::uint16_t> number_of_port(std::string_view text) {
  const auto number = linux::number<std::uint16_t>(text);
  return number && *number != 0 ? number : std::nullopt;
}

const Port* find_named(const Pod& pod, const std::string& name) {
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports)
      if (!port.name.empty() && port.name == name) return &port;
  return nullptr;
}

/// The port of the pod that --publish names.
Result<Port> port_of(const Pod& pod, const std::string& name) {
  if (const Port* named = find_named(pod, name)) return *named;
  std::string_view protocol = name;
  const auto number = number_of_port(linux::cut(protocol, '/'));
  if (number && (protocol.empty() || protocol == "tcp" || protocol == "udp"))
    return Port{.name = {},
                .number = *number,
                .protocol = protocol == "udp" ? Protocol::kUdp : Protocol::kTcp,
                .place = nullptr};
  std::vector<std::string> names;
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports)
      names.push_back(port.name.empty() ? fmt::format("{}", port.number) : port.name);
  return refuse("--publish {}: no container has a port of this name{}; a number may be any port",
                name, names.empty() ? "" : fmt::format(" (they have {})", fmt::join(names, ", ")));
}

HostPort host_port(const std::string& address, std::uint16_t number, const Port& port) {
  return {.name = {}, .number = number, .address = address, .pod_port = port, .place = port.place};
}

}  // namespace

Result<Published> read_published(std::string_view text) {
  const auto bad = [text] {
    return refuse(
        "--publish {}: must have the form PORT=HOSTPORT or PORT=ADDRESS:HOSTPORT, with an address "
        "of IPv4, or of IPv6 in brackets",
        text);
  };
  std::string_view host = text;
  Published published{.port = std::string(linux::cut(host, '=')), .address = {}};
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view address = host.substr(0, colon);
    const bool is_bracketed = address.starts_with('[') && address.ends_with(']');
    if (is_bracketed) address = address.substr(1, address.size() - 2);
    if (is_bracketed != address.contains(':')) return bad();
    published.address = address;
    host.remove_prefix(colon + 1);
    if (!is_ip_address(published.address)) return bad();
  }
  const auto number = number_of_port(host);
  if (!number || published.port.empty()) return bad();
  published.host_port = *number;
  return published;
}

Result<void> publish(const std::vector<Published>& published, Pod& pod) {
  if (published.empty()) return {};
  const std::vector<Forward> of_document = forwards_of(pod);
  std::vector<HostPort> chosen;
  for (const Published& wish : published) {
    OCIRUN_TRY_ASSIGN(const Port port, port_of(pod, wish.port));
    if (std::ranges::any_of(chosen, [&](const HostPort& other) {
          return other.number == wish.host_port && other.pod_port->protocol == port.protocol;
        }))
      return refuse(
          "--publish {}: port {} of the host is given twice, and pasta can open a port only once: "
          "at one address, or without an address at all of them",
          wish.port, wish.host_port);
    chosen.push_back(host_port(wish.address, wish.host_port, port));
  }
  const auto is_chosen = [&](const Forward& forward) {
    return std::ranges::any_of(chosen, [&](const HostPort& own) {
      return own.pod_port->number == forward.pod_port && own.pod_port->protocol == forward.protocol;
    });
  };
  std::vector<HostPort> others;
  for (const Forward& forward : of_document)
    if (!is_chosen(forward))
      others.push_back(host_port(forward.address, forward.host_port,
                                 {.name = {},
                                  .number = forward.pod_port,
                                  .protocol = forward.protocol,
                                  .place = forward.place}));
  chosen.insert(chosen.end(), others.begin(), others.end());
  pod.host_ports = std::move(chosen);
  return {};
}

std::vector<Forward> forwards_of(const Pod& pod) {
  std::vector<Forward> forwards;
  const auto find_port = [&](const std::string& name) -> const Port* {
    for (const Container& container : pod.containers)
      for (const Port& port : container.ports)
        if (port.name == name) return &port;
    return nullptr;
  };
  for (const HostPort& host : pod.host_ports) {
    const Port* port = host.pod_port ? &*host.pod_port : find_port(host.name);
    if (port != nullptr)
      forwards.push_back({host.address, host.number, port->number, port->protocol, host.place});
  }
  if (!pod.host_ports.empty()) return forwards;
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports) {
      Forward forward{"", port.number, port.number, port.protocol, port.place};
      // A document only tells of ports. Two containers may name the same port, and either opens it.
      if (std::ranges::find(forwards, forward) == forwards.end())
        forwards.push_back(std::move(forward));
    }
  return forwards;
}

std::vector<PodPort> ports_of(const Pod& pod) {
  std::vector<PodPort> ports;
  for (Forward& forward : forwards_of(pod)) {
    PodPort& found = ports.emplace_back(
        PodPort{.forward = std::move(forward), .container = nullptr, .name = {}});
    for (const Container& container : pod.containers)
      for (const Port& port : container.ports)
        if (found.container == nullptr && port.number == found.forward.pod_port &&
            port.protocol == found.forward.protocol) {
          found.container = &container;
          found.name = port.name;
        }
  }
  return ports;
}

}  // namespace ocirun::pods
