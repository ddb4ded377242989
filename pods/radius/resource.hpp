#pragma once

#include <string_view>

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {

/// Reads a Container resource of Radius (matrix §5.4, RX-1 … RX-19) into `out` and reports every
/// problem; an unknown name is a problem.
void read_radius(Value at, Pod& out);

// Readers of parts of the resource. Each attribute is read in two forms: that of the design note,
// and that of the published type Radius.Compute/containers.

/// properties.containers, an object of containers. A container with `initContainer: true` is an
/// init container (RX-1, RX-2).
bool radius_containers(Value at, Pod& out);
/// properties.initContainers, which only the design note has (RX-2).
bool radius_init_containers(Value at, Pod& out);

/// properties.volumes (RX-9).
bool radius_volumes(Value at, std::vector<Volume>& out);
/// volumeMounts of a container: an object in the design note, a list in the published type (RX-8).
bool radius_volume_mounts(Value at, std::vector<Mount>& out);

/// A name of a resource or of a part of it, "orderProcessor": 1 to 63 letters, digits and "-", with
/// a letter or digit at both ends.
bool is_radius_name(std::string_view text);
/// Whether the name of `member` is a name of Radius. Reports a problem if not.
bool has_radius_name(Value member);

/// Reads the members of an object in their order. `reader` reads each member into a new element of
/// `out`, whose `name` is the name of the member.
template <typename Item, typename Reader>
bool named_items(Value at, std::vector<Item>& out, Reader reader) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    Item& item = out.emplace_back();
    item.name = member.key();
    item.place = &member.node();
    good &= reader(member, item);
  }
  return good;
}

/// A row that refuses a name which an older edition of the resource type had (RX-6, RX-18).
/// `successor`: the required name that has replaced it, if there is one.
constexpr auto removed(std::string_view key, std::string_view successor, std::string_view advice) {
  return bundle::refused_part(key, successor, [advice](Value at, auto&) {
    at.problem("was removed from the resource type: {}", advice);
    return false;
  });
}

}  // namespace ocirun::pods
