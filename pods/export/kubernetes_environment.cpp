#include <algorithm>

#include "linux/base/letters.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/export/kubernetes.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

/// The name of an environment variable that every version of Kubernetes accepts.
bool is_variable_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return linux::is_letter(c) || c == '_' || c == '-' || c == '.';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || linux::is_digit(c); });
}

void add_key_reference(Translation& translation, Place place, const SecretKey& key,
                       YamlPart entry) {
  const bool is_config_map = key.secret.starts_with(kConfigMapPrefix);
  YamlPart from = entry.add_object("valueFrom");
  YamlPart reference = from.add_object(is_config_map ? "configMapKeyRef" : "secretKeyRef");
  reference.add("name", kubernetes_secret_name(translation, place, key.secret));
  reference.add("key", key.key);
  if (key.is_optional) reference.add("optional", true);
}

}  // namespace

std::string kubernetes_secret_name(Translation& translation, Place place, const std::string& id) {
  std::string name = id.substr(id.rfind('/') + 1);
  const bool is_config_map = id.starts_with(kConfigMapPrefix);
  std::string good;
  bundle::Report unread;
  bundle::Node node;
  node.kind = bundle::Node::Kind::kString;
  node.text = name;
  if (!dns_name(Value(node, unread), good))
    translation.lose(place, "",
                     "\"{}\" cannot be the name of a {}: lower-case letters, digits, "
                     "\"-\" and \".\" only",
                     name, is_config_map ? "ConfigMap" : "Secret");
  const bool is_in_output = is_config_map && translation.pod().key_documents.contains(id);
  if (!is_in_output)
    translation.expect(fmt::format("the {} \"{}\"", is_config_map ? "ConfigMap" : "Secret", name));
  return name;
}

YamlPart kubernetes_variables(Translation& translation, const Container& container) {
  YamlPart list = translation.new_object().new_list();
  for (const EnvVariable& variable : exported_variables(translation, container)) {
    if (!is_variable_name(variable.name)) {
      translation.lose(variable.place, "name",
                       "the name of a variable must be letters, digits, \"_\", \"-\" and \".\", "
                       "without a digit first, not \"{}\"",
                       variable.name);
      continue;
    }
    if (translation.has_copied_parts(variable.place)) {
      list.add("", translation.copy_of(*variable.place));
      continue;
    }
    YamlPart entry = list.add_object();
    entry.add("name", variable.name);
    if (const auto* key = std::get_if<SecretKey>(&variable.value)) {
      add_key_reference(translation, variable.place, *key, entry);
      continue;
    }
    if (!variable.field.empty()) {
      entry.add_object("valueFrom").add_object("fieldRef").add("fieldPath", variable.field);
      continue;
    }
    const std::string& value = std::get<std::string>(variable.value);
    const bool is_literal = variable.is_literal || !has_references(translation.pod());
    entry.add("value", is_literal ? without_references(value) : value);
  }
  return list;
}

YamlPart kubernetes_variable_sources(Translation& translation, const Container& container) {
  YamlPart list = translation.new_object().new_list();
  for (const EnvSource& source : container.env_sources) {
    const bool is_config_map = source.secret.starts_with(kConfigMapPrefix);
    YamlPart entry = list.add_object();
    entry.add_unless_empty("prefix", source.prefix);
    YamlPart reference = entry.add_object(is_config_map ? "configMapRef" : "secretRef");
    reference.add("name", kubernetes_secret_name(translation, source.place, source.secret));
    if (source.is_optional) reference.add("optional", true);
  }
  return list;
}

}  // namespace ocirun::pods
