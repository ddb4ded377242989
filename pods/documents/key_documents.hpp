#pragma once

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// Whether `root` is a document of the kind ConfigMap or Secret of Kubernetes.
bool is_key_document(const bundle::Node& root);

/// Reads such a document.
struct NamedKeys {
  std::string name;  // as --secret has it: of a config map with kConfigMapPrefix
  KeyDocument document;
};
bool read_key_document(bundle::Value at, NamedKeys& out);

/// "the config map \"m\"", "the secret \"s\"": how messages call what `name` of --secret means.
std::string shown_secret(std::string_view name);

/// The names of all secrets and config maps whose keys are variables or files in `pod`.
std::vector<std::string> used_secrets(const Pod& pod);

}  // namespace ocirun::pods
