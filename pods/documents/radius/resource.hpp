#pragma once

#include <string_view>

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Reads a Container resource of Radius (RX-1 … RX-19) into `out` and reports every
/// problem; an unknown name is a problem.
void read_radius(Value at, Pod& out);

/// The two editions of the resource type.
enum class Edition : std::uint8_t {
  kCore,     // Applications.Core/containers: one `container`, which has the name of the resource
  kCompute,  // its successor: many `containers`
};

/// properties of Applications.Core/containers.
bool core_properties(Value at, Pod& out);

// Readers of parts of the resource. The second edition has two forms, that of the design note and
// that of the published type Radius.Compute/containers. Each attribute is read in both.

/// properties.containers, an object of containers. A container with `initContainer: true` is an
/// init container (RX-1, RX-2).
bool radius_containers(Value at, Pod& out);
/// properties.initContainers, which only the design note has (RX-2).
bool radius_init_containers(Value at, Pod& out);

/// env of a container (RX-5, RX-6).
bool radius_env(Value at, Edition edition, std::vector<EnvVariable>& out);
/// ports of a container (RX-7).
bool radius_ports(Value at, Edition edition, std::vector<Port>& out);

/// A probe of Applications.Core/containers: `kind` says whether it is httpGet, tcp or exec, the
/// command is one text, and the timeout is 5 seconds unless given.
bool core_probe(Value at, Probe& out);

/// For an export, keep_tags() keeps tags or annotations of the document, and keep_labels() labels.
/// A name that was kept before is a problem.
bool keep_tags(Value at, Pod& out);
bool keep_labels(Value at, Pod& out);

/// properties.autoScaling (RX-14)
bool radius_auto_scaling(Value at, Pod& out);
/// properties.extensions, an object or a list (RX-15, RX-18).
bool radius_extensions(Value at, Edition edition, Pod& out);
/// properties.replicas (RX-15)
bool radius_replicas(Value at, Pod& out);
/// properties.connections (RX-16). The URL of a service is split into its parts.
bool radius_connections(Value at, Edition edition, std::vector<Connection>& out);

/// properties.volumes (RX-9).
bool radius_volumes(Value at, std::vector<Volume>& out);
/// volumeMounts of a container: an object in the design note, a list in the published type (RX-8).
bool radius_volume_mounts(Value at, std::vector<Mount>& out);
/// container.volumes of Applications.Core/containers: volumes that say where they are mounted.
bool core_volumes(Value at, std::vector<Volume>& volumes, std::vector<Mount>& mounts);

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

/// The reader of a row that reads the value with `reader(value, kEdition, out)`.
template <Edition kEdition, typename Reader>
constexpr auto for_edition(Reader reader) {
  return [reader](Value at, auto& out) { return reader(at, kEdition, out); };
}

/// Reads the member `kind` of the object `at`, which must be a word of `kKinds`. Messages call the
/// kind `what`. The message about a missing `kind` lists `known`.
template <const auto& kKinds>
bool read_kind(Value at, std::string_view what, std::string_view known, auto& out) {
  if (!at.expect_object()) return false;
  if (const auto kind = at.member("kind")) return word_of<kKinds>(what)(*kind, out);
  at.problem_at("kind", "is missing, it is required: {}", known);
  return false;
}

/// A number of instances.
inline constexpr auto kInstances = whole_number(1, 2'147'483'647);

/// Why names of the platform have no effect.
inline constexpr std::string_view kNoRadius = "no Radius stands behind this command";

/// The table of properties: the members that the editions have in common, and `rows`.
template <Edition kEdition, typename... Rows>
constexpr auto properties_fields(Rows... rows) {
  return exact_fields<Pod>(
      no_effect("environment", kNoRadius), no_effect("application", kNoRadius), rows...,
      field("connections", &Pod::connections, for_edition<kEdition>(radius_connections)),
      field("restartPolicy", &Pod::restart, restart_rule),
      part("extensions", for_edition<kEdition>(radius_extensions)),
      no_effect("provisioningState", "Radius has set it"),
      no_effect("status", "Radius has set it"));
}

/// A row that refuses a name which only the second edition has.
constexpr auto of_successor(std::string_view key, std::string_view advice) {
  return bundle::refused_part(key, "", [advice](Value at, auto&) {
    at.problem("belongs to Radius.Compute/containers: {}", advice);
    return false;
  });
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
