#include "runtime/compare/id_maps.hpp"

#include <algorithm>
#include <vector>

namespace ocirun::runtime {
namespace {

bool is_same(std::vector<linux::IdMapping> a, std::vector<linux::IdMapping> b) {
  std::ranges::sort(a, {}, &linux::IdMapping::container_id);
  std::ranges::sort(b, {}, &linux::IdMapping::container_id);
  return a == b;
}

}  // namespace

bool is_same_map(const linux::IdMap& a, const linux::IdMap& b) {
  return is_same(a.uids, b.uids) && is_same(a.gids, b.gids);
}

Result<void> compare_id_maps(const bundle::Config& config, const linux::Procfs& procfs, int init) {
  if (!config.namespaces.creates(linux::NamespaceKind::kUser)) return {};
  const Fd top = procfs.fd();
  TRY_ASSIGN(const auto uids, linux::read_id_map(top, fmt::format("{}/uid_map", init)));
  TRY_ASSIGN(const auto gids, linux::read_id_map(top, fmt::format("{}/gid_map", init)));
  if (!is_same(uids, config.id_map.uids))
    return refuse("the user namespace maps other user ids than /linux/uidMappings");
  if (!is_same(gids, config.id_map.gids))
    return refuse("the user namespace maps other group ids than /linux/gidMappings");
  TRY_ASSIGN(const std::string setgroups, procfs.read(fmt::format("{}/setgroups", init)));
  if (setgroups.starts_with("allow")) return {};
  return refuse("setgroups(2) is denied in the user namespace: create allows it");
}

}  // namespace ocirun::runtime
