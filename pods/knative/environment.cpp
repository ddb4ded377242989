#include <algorithm>
#include <array>

#include "pods/knative/service.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

/// KN-2: the platform sets these in each container. It sets PORT only in the container that has the
/// port (KN-1), which knative_revision() checks.
constexpr std::array<std::string_view, 3> kReserved = {"K_SERVICE", "K_CONFIGURATION",
                                                       "K_REVISION"};

bool variable_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (out.contains('=')) {
    at.problem("must not contain \"=\": {}", found(at));
    return false;
  }
  if (std::ranges::find(kReserved, out) == kReserved.end()) return true;
  at.problem("{} is set by the platform, and must not be set here", out);
  return false;
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

constexpr std::array kOtherValues{
    UnsupportedName{"fieldRef", "a pod has no object in a cluster whose fields could be read",
                    true},
    UnsupportedName{"resourceFieldRef", "write the number as value", true},
    UnsupportedName{"fileKeyRef", "write the value, or take it from a secret or a config map",
                    true},
};

constexpr auto kValueFrom =
    exact_fields<EnvVariable>(part("secretKeyRef", secret_key),
                              part("configMapKeyRef", config_map_key))
        .beside([](Value member) { return refuse_if_listed(member, kOtherValues); });

bool value_from(Value at, EnvVariable& out) {
  if (!kValueFrom(at, out)) return false;
  const auto is_other = [&](const UnsupportedName& other) {
    return at.member(other.name).has_value();
  };
  if (std::ranges::any_of(kOtherValues, is_other)) return true;  // left out: an empty variable
  return has_exactly_one_of(at, "secretKeyRef", "configMapKeyRef");
}

constexpr auto kVariable = bundle::checked(
    placed(exact_fields<EnvVariable>(required("name", &EnvVariable::name, variable_name),
                                     part("value",
                                          [](Value at, EnvVariable& out) {
                                            return string(at, out.value.emplace<std::string>());
                                          }),
                                     part("valueFrom", value_from))),
    [](Value at, const EnvVariable&) {
      if (at.member("value") && at.member("valueFrom"))
        at.problem("must not have both value and valueFrom");
    });

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

bool knative_env(Value at, std::vector<EnvVariable>& out) {
  return unique_list_of(kVariable, by("name", &EnvVariable::name))(at, out);
}

bool knative_env_sources(Value at, std::vector<EnvSource>& out) {
  return list_of(env_source)(at, out);
}

}  // namespace ocirun::pods
