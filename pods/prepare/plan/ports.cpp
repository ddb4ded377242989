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

/// The one of `ports`, all of which have a `pod_port`, that is this port of the host.
const HostPort* find_same(const std::vector<HostPort>& ports, std::uint16_t number,
                          Protocol protocol) {
  const auto found = std::ranges::find_if(ports, [&](const HostPort& port) {
    return port.number == number && port.pod_port->protocol == protocol;
  });
  return found == ports.end() ? nullptr : &*found;
}

bool leads_to(const Forward& forward, const Port& port) {
  return forward.pod_port == port.number && forward.protocol == port.protocol;
}

/// The value for [ADDRESS:]HOSTPORT:PORT[/PROTOCOL], or for PORT[/PROTOCOL] alone; "" for another
/// text.
std::string translated(std::string_view text) {
  std::string_view protocol = text;
  const std::string_view ports = linux::cut(protocol, '/');
  const std::size_t colon = ports.rfind(':');
  const std::string_view port = ports.substr(colon == std::string_view::npos ? 0 : colon + 1);
  const std::string_view host = ports.substr(0, colon);
  const bool is_known = protocol.empty() || protocol == "tcp" || protocol == "udp";
  if (text.contains('=') || !number_of_port(port) || !is_known) return "";
  std::string value = fmt::format("{}{}={}", port, protocol == "udp" ? "/udp" : "", host);
  return read_published(value) ? value : "";
}

}  // namespace

Result<Published> read_published(std::string_view text) {
  const auto bad = [text] {
    const std::string value = translated(text);
    return value.empty()
               ? refuse(
                     "--publish {}: must have the form PORT=HOSTPORT or PORT=ADDRESS:HOSTPORT, "
                     "with an address of IPv4, or of IPv6 in brackets",
                     text)
           : text.contains(':')
               ? refuse("--publish {}: the port of the pod comes first: --publish {}", text, value)
               : refuse(
                     "--publish {}: the port of the host is missing: --publish {} opens the same "
                     "number",
                     text, value);
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

Result<void> publish(const Publishing& publishing, Pod& pod) {
  std::vector<HostPort> ports;
  for (const Published& wish : publishing.ports) {
    OCIRUN_TRY_ASSIGN(const Port port, port_of(pod, wish.port));
    if (find_same(ports, wish.host_port, port.protocol) != nullptr)
      return refuse(
          "--publish {}: port {} of the host is given twice, and pasta can open a port only once: "
          "at one address, or without an address at all of them",
          wish.port, wish.host_port);
    ports.push_back(host_port(wish.address, wish.host_port, port));
  }
  const std::vector<HostPort> chosen = ports;
  const auto add_all = [&](const std::vector<Forward>& forwards) -> Result<void> {
    const std::vector<HostPort> before = ports;  // the document may use a number at two addresses
    for (const Forward& forward : forwards) {
      if (std::ranges::any_of(
              chosen, [&](const HostPort& own) { return leads_to(forward, *own.pod_port); }))
        continue;
      if (const HostPort* other = find_same(before, forward.host_port, forward.protocol))
        return refuse(
            "port {} of the host cannot lead to the ports {} and {} of the pod: --publish "
            "PORT=HOSTPORT gives one of them another port of the host",
            forward.host_port, other->pod_port->number, forward.pod_port);
      ports.push_back(host_port(forward.address, forward.host_port,
                                {.name = {},
                                 .number = forward.pod_port,
                                 .protocol = forward.protocol,
                                 .place = forward.place}));
    }
    return {};
  };
  if (chosen.empty() && !publishing.all) return {};
  OCIRUN_TRY(add_all(forwards_of(pod)));
  if (publishing.all) OCIRUN_TRY(add_all(closed_ports(pod)));
  pod.host_ports = std::move(ports);
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
  return forwards;
}

std::vector<Forward> closed_ports(const Pod& pod) {
  const std::vector<Forward> open = forwards_of(pod);
  std::vector<Forward> closed;
  const auto has = [](const std::vector<Forward>& forwards, const Port& port) {
    return std::ranges::any_of(forwards,
                               [&](const Forward& forward) { return leads_to(forward, port); });
  };
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports)
      if (!has(open, port) && !has(closed, port))
        closed.push_back({"", port.number, port.number, port.protocol, port.place});
  return closed;
}

std::vector<PodPort> ports_of(const Pod& pod) {
  std::vector<PodPort> ports;
  const auto add = [&](Forward forward, bool is_open) {
    PodPort& found = ports.emplace_back(PodPort{
        .forward = std::move(forward), .is_open = is_open, .container = nullptr, .name = {}});
    for (const Container& container : pod.containers)
      for (const Port& port : container.ports)
        if (found.container == nullptr && leads_to(found.forward, port)) {
          found.container = &container;
          found.name = port.name;
        }
  };
  for (const Forward& forward : forwards_of(pod)) add(forward, true);
  for (const Forward& forward : closed_ports(pod)) add(forward, false);
  return ports;
}

}  // namespace ocirun::pods
