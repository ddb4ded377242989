#include "bundle/json/writer.hpp"
#include "linux/process/exec_limits.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/export/swarm.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

/// Variables in the order in which they are first set, with the last value of each name.
class SwarmEnvironment {
 public:
  explicit SwarmEnvironment(Translation& translation) : translation_(translation) {}

  void set(Place place, const std::string& name, const std::string& value) {
    if (name.contains("{{"))
      return translation_.lose(place, "name",
                               "the name of a variable must not contain \"{{{{\", which begins a "
                               "template of Swarm, as in \"{}\"",
                               name);
    if (!bundle::is_utf8(value))
      return translation_.lose(place, "", "the value of {} must be UTF-8", name);
    if (!named_.contains(name)) order_.push_back(name);
    named_[name] = value;
  }

  const Variables& named() const { return named_; }

  SwarmVariables take() {
    YamlPart environment = translation_.new_object();
    for (const std::string& name : order_)
      environment.add(name, without_templates(named_.at(name)));
    return {.environment = environment, .named = std::move(named_)};
  }

 private:
  Translation& translation_;
  std::vector<std::string> order_;
  Variables named_;
};

/// Notes a loss if `id` is a secret, because Swarm gives secrets only as files, or an unknown
/// config map. Returns whether there was a loss. The output can have the content of a known config
/// map.
bool lose_unknown_source(Translation& translation, const Secrets& secrets, Place place,
                         const std::string& id, std::string_view what) {
  if (!id.starts_with(kConfigMapPrefix)) {
    translation.lose(place, "", "{}: the secret \"{}\" can become a file in Swarm, but no variable",
                     what, id);
    return true;
  }
  if (secrets.have(id)) return false;
  translation.lose(place, "",
                   "{}: the ConfigMap \"{}\" must stand beside the workload, or in a directory "
                   "(--secret {}=DIR)",
                   what, id.substr(kConfigMapPrefix.size()), id);
  return true;
}

}  // namespace

std::string without_templates(std::string_view text) {
  constexpr std::string_view kBegin = "{{";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_one = text.substr(at).starts_with(kBegin);
    out += begins_one ? R"({{"{{"}})" : std::string(1, text[at]);
    at += begins_one ? kBegin.size() : 1;
  }
  return out;
}

Result<SwarmVariables> swarm_variables(Translation& translation, const Container& container) {
  const Pod& pod = translation.pod();
  const Secrets secrets{.bindings = translation.given().bindings, .pod = pod};
  SwarmEnvironment environment(translation);
  for (const EnvSource& source : container.env_sources) {
    if (lose_unknown_source(translation, secrets, source.place, source.secret, "all its keys"))
      continue;
    OCIRUN_TRY_ASSIGN(const auto values, secrets.variables(source));
    for (const auto& [key, value] : values)
      environment.set(source.place, source.prefix + key, value);
  }
  for (const EnvVariable& variable : exported_variables(translation, container)) {
    if (const auto* key = std::get_if<SecretKey>(&variable.value)) {
      if (lose_unknown_source(translation, secrets, variable.place, key->secret, variable.name))
        continue;
      OCIRUN_TRY_ASSIGN(const auto value, secrets.variable(*key));
      if (value) environment.set(variable.place, variable.name, *value);
      continue;
    }
    if (!variable.field.empty())
      translation.lose(variable.place, "valueFrom/fieldRef",
                       "{} is not told to a task of Swarm: the variable has the value that `ocirun "
                       "pod run` gives",
                       variable.field);
    const std::string& value = std::get<std::string>(variable.value);
    std::string whole = value;
    if (has_references(pod) && !variable.is_literal) {
      OCIRUN_TRY_ASSIGN(whole,
                        expand(value, environment.named(), linux::ExecLimits::here().string));
    }
    environment.set(variable.place, variable.name, whole);
  }
  return environment.take();
}

}  // namespace ocirun::pods
