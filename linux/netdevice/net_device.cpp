#include "linux/netdevice/net_device.hpp"

#include <sys/random.h>

#include <ranges>

#include "linux/netdevice/net_address.hpp"
#include "linux/netdevice/net_link.hpp"

// A device changes namespaces under a random name, its passing name, and gets its final name after
// the arrival. During the move only the passing name identifies the device in both namespaces: the
// kernel may change the index, another device may have the old name in the other namespace, and the
// final name may be a template. After the arrival the index identifies the device, as long as no
// administrator of that namespace removes or moves the device.

namespace ocirun::linux {
namespace {

std::string random_name() {
  std::uint64_t number = 0;
  ignore(::getrandom(&number, sizeof number, 0));
  return fmt::format("oci{:012x}", number & 0xFFFFFFFFFFFF);  // 15 bytes, the longest name
}

Result<std::string> move(const NetDevice& device, Fd target, const Journal& journal) {
  OCIRUN_TRY_ASSIGN(const Place here, Place::here());
  OCIRUN_TRY_ASSIGN(const Place there, Place::at(target));
  OCIRUN_TRY_ASSIGN(const Link before, read_link(here.socket, device.host_name));
  Departure departure{.host_name = before.name,
                      .kind = before.kind,
                      .passing_name = random_name(),
                      .was_up = before.is_up,
                      .addresses = {}};
  OCIRUN_TRY_ASSIGN(departure.addresses, permanent_addresses(here.socket, before.index));
  OCIRUN_TRY(journal.leaves(departure));
  OCIRUN_TRY_ASSIGN(const Link arrived, send_link(here, there, before, departure.passing_name));
  OCIRUN_TRY(journal.arrived(departure, arrived.index));
  OCIRUN_TRY(rename_link(there.socket, arrived.index, device.container_name,
                         "choose another, or a template such as \"eth%d\""));
  OCIRUN_TRY_ASSIGN(const Link named, read_link(there.socket, arrived.index));
  OCIRUN_TRY(
      add_addresses(there.socket, arrived.index, departure.addresses, before.name, named.name));
  OCIRUN_TRY(set_link_up(there.socket, arrived.index));
  return named.name;
}

// Moves the device back to the host if the device is in the container's namespace, and returns the
// device on the host. Returns nothing if the device is in neither namespace.
Result<std::optional<Link>> fetch(const Departure& device, const Place& here,
                                  const std::optional<Place>& there) {
  if (device.index_home != 0) {
    OCIRUN_TRY_ASSIGN(auto home, find_link(here.socket, device.index_home));
    // If the device was removed, another device may have its index.
    if (home && home->name != device.passing_name && home->name != device.host_name) home.reset();
    return home;
  }
  if (there) {
    // In a joined namespace, a process with CAP_NET_ADMIN may have replaced the device. Only a
    // device of the recorded kind is moved.
    OCIRUN_TRY_ASSIGN(auto away, device.index_there != 0
                                     ? find_link(there->socket, device.index_there)
                                     : find_link(there->socket, device.passing_name));
    if (away && away->kind == device.kind) {
      OCIRUN_TRY_ASSIGN(Link home, send_link(*there, here, *away, device.passing_name));
      return home;
    }
  }
  return find_link(here.socket, device.passing_name);
}

enum class Whereabouts { kHome, kNowhere };

Result<Whereabouts> bring_back(const Departure& device, const Place& here,
                               const std::optional<Place>& there, const Journal& journal) {
  OCIRUN_TRY_ASSIGN(const auto home, fetch(device, here, there));
  if (!home) {
    OCIRUN_TRY_ASSIGN(const auto stayed, find_link(here.socket, device.host_name));
    const bool never_left = device.index_there == 0 && device.index_home == 0 && stayed;
    return never_left ? Whereabouts::kHome : Whereabouts::kNowhere;
  }
  // An error is ignored (the disk may be full), because only a later attempt needs this line.
  if (device.index_home == 0) ignore(journal.came_home(device, home->index));
  if (home->name != device.host_name)
    OCIRUN_TRY(rename_link(here.socket, home->index, device.host_name, "rename that one"));
  OCIRUN_TRY(add_addresses(here.socket, home->index, device.addresses, device.host_name,
                           device.host_name));
  if (device.was_up) OCIRUN_TRY(set_link_up(here.socket, home->index));
  return Whereabouts::kHome;
}

}  // namespace

Result<std::string> move_net_device(const NetDevice& device, Fd target, const Journal& journal) {
  return within(move(device, target, journal), "move it into the container as {}",
                device.container_name);
}

Result<std::vector<std::string>> return_net_devices(std::optional<Fd> source,
                                                    const Journal& journal,
                                                    const std::function<void()>& after_each) {
  OCIRUN_TRY_ASSIGN(const std::vector<Departure> devices, journal.read());
  OCIRUN_TRY_ASSIGN(const Place here, Place::here());
  std::optional<Place> there;
  if (source) {
    OCIRUN_TRY_ASSIGN(there, Place::at(*source));
  }
  std::vector<std::string> gone;
  Result<void> outcome;
  for (const Departure& device : std::views::reverse(devices)) {
    if (device.is_back) continue;
    const auto found = bring_back(device, here, there, journal);
    if (found == Whereabouts::kNowhere) gone.push_back(device.host_name);
    if (found) ignore(journal.is_back(device));
    if (!found && outcome)
      outcome = std::unexpected(
          Error(found.error()).within(fmt::format("network device {}", device.host_name)));
    after_each();
  }
  OCIRUN_TRY(std::move(outcome));
  return gone;
}

}  // namespace ocirun::linux
