#include "runtime/checkpoint/network_image.hpp"

#include "runtime/images/directory.hpp"

namespace ocirun::runtime {
namespace {

Result<bool> have_network_devices(Fd images) {
  bool found = false;
  TRY(for_each_image(images, "netdev-", [&](const char*) -> Result<void> {
    found = true;
    return {};
  }));
  return found;
}

}  // namespace

Result<void> check_network_images(Fd images, const bundle::Config& config,
                                  const CriuSettings& settings, const Log& log) {
  if (!config.namespaces.creates(linux::NamespaceKind::kNetwork)) return {};
  TRY_ASSIGN(const bool are_there, have_network_devices(images));
  if (are_there && !settings.keeps_network)
    log.warn(
        "the images hold what was in the network namespace, which is not restored: give "
        "--keep-network to restore devices, addresses, routes and rules");
  if (!are_there && settings.keeps_network)
    return refuse(
        "--keep-network: the images do not hold what was in the network namespace: leave the "
        "option out, or give it to checkpoint as well");
  return {};
}

}  // namespace ocirun::runtime
