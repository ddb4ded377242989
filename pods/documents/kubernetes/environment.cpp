#include <algorithm>
#include <map>
#include <utility>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/unsupported.hpp"
#include "pods/documents/model/container_reader.hpp"

namespace ocirun::pods {
namespace {

/// `reserved`: the names that a document must not set.
constexpr auto variable_name(std::span<const std::string_view> reserved) {
  return [reserved](Value at, std::string& out) {
    if (!nonempty_string(at, out)) return false;
    if (out.contains('=')) {
      at.problem("must not contain \"=\": {}", found(at));
      return false;
    }
    if (std::ranges::find(reserved, out) == reserved.end()) return true;
    at.problem("{} is set by the platform, and must not be set here", out);
    return false;
  };
}

constexpr auto kKey = exact_fields<SecretKey>(required("name", &SecretKey::secret, dns_name),
                                              required("key", &SecretKey::key, nonempty_string),
                                              field("optional", &SecretKey::is_optional, boolean));

bool secret_key(Value at, EnvVariable& out) { return kKey(at, out.value.emplace<SecretKey>()); }
bool config_map_key(Value at, EnvVariable& out) {
  SecretKey& key = out.value.emplace<SecretKey>();
  if (!kKey(at, key)) return false;
  key.secret.insert(0, kConfigMapPrefix);
  return true;
}

/// The path of a field, which resolve_fields() turns into a value.
bool field_path(Value at, EnvVariable& out) {
  static constexpr auto kReference =
      exact_fields<EnvVariable>(part_unless_empty<std::string>(
                                    "apiVersion",
                                    [](Value version, EnvVariable&) {
                                      if (version.node().is_string() && version.node().text == "v1")
                                        return true;
                                      version.problem("must be v1, not {}", found(version));
                                      return false;
                                    }),
                                required("fieldPath", &EnvVariable::field, nonempty_string));
  out.is_literal = true;
  return kReference(at, out);
}

/// The table of valueFrom. `rows`: fieldRef of Kubernetes, which Knative does not have.
template <typename... Rows>
constexpr auto value_from(Rows... rows) {
  return exact_fields<EnvVariable>(part("secretKeyRef", secret_key),
                                   part("configMapKeyRef", config_map_key), rows...)
      .beside([](Value member) {
        return refuse_if_listed(member, unsupported_of(PartOfPod::kVariable));
      });
}
constexpr auto kKnativeValue = value_from(
    not_supported("fieldRef", "a pod has no object in a cluster whose fields could be read"));
constexpr auto kKubernetesValue = value_from(part("fieldRef", field_path));

bool read_value_from(Value at, EnvVariable& out, Dialect dialect) {
  const bool has_fields = dialect == Dialect::kKubernetes;
  if (!(has_fields ? kKubernetesValue(at, out) : kKnativeValue(at, out))) return false;
  int given = 0, left_out = 0;
  for (const Value member : at) {
    if (member.is_null()) continue;
    const bool is_field = member.key() == "fieldRef";
    const bool is_read = member.key() == "secretKeyRef" || member.key() == "configMapKeyRef";
    ++(is_read || (is_field && has_fields) ? given : left_out);
  }
  if (given == 1 || (given == 0 && left_out != 0)) return true;  // left out: an empty variable
  at.problem("must have exactly one of secretKeyRef{} and configMapKeyRef",
             has_fields ? ", fieldRef" : "");
  return false;
}

bool variable(Value at, EnvVariable& out, Dialect dialect,
              std::span<const std::string_view> reserved) {
  const auto table = placed(
      exact_fields<EnvVariable>(required("name", &EnvVariable::name, variable_name(reserved)),
                                part("value",
                                     [](Value value, EnvVariable& read) {
                                       return string(value, read.value.emplace<std::string>());
                                     }),
                                part("valueFrom", [dialect](Value from, EnvVariable& read) {
                                  return read_value_from(from, read, dialect);
                                })));
  if (!table(at, out)) return false;
  if (!at.member("value") || !at.member("valueFrom")) return true;
  at.problem("must not have both value and valueFrom");
  return false;
}

bool source_name(Value at, EnvSource& out) {
  static constexpr auto kTable =
      exact_fields<EnvSource>(required("name", &EnvSource::secret, dns_name),
                              field("optional", &EnvSource::is_optional, boolean));
  return kTable(at, out);
}

bool config_map_name(Value at, EnvSource& out) {
  if (!source_name(at, out)) return false;
  out.secret.insert(0, kConfigMapPrefix);
  return true;
}

bool env_source(Value at, EnvSource& out) {
  static constexpr auto kTable = placed(exact_fields<EnvSource>(
      field("prefix", &EnvSource::prefix, string), part("secretRef", source_name),
      part("configMapRef", config_map_name)));
  if (!kTable(at, out)) return false;
  return has_exactly_one_of(at, "secretRef", "configMapRef");
}

}  // namespace

bool container_env(Value at, std::vector<EnvVariable>& out, Dialect dialect,
                   std::span<const std::string_view> reserved) {
  const auto read = [=](Value item, EnvVariable& entry) {
    return variable(item, entry, dialect, reserved);
  };
  if (!list_of(read)(at, out)) return false;
  warn_of_replaced(at, out);
  return true;
}

/// A source that stands later with the same prefix replaces all that an earlier one has set.
bool container_env_sources(Value at, std::vector<EnvSource>& out) {
  if (!list_of(env_source)(at, out)) return false;
  std::map<std::pair<std::string, std::string>, const EnvSource*> last;
  for (const EnvSource& source : out) last[{source.secret, source.prefix}] = &source;
  std::vector<EnvSource> kept;
  for (const EnvSource& source : out)
    if (last[{source.secret, source.prefix}] == &source) kept.push_back(source);
  out = std::move(kept);
  return true;
}

}  // namespace ocirun::pods
