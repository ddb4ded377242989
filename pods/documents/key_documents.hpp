#pragma once

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// Whether `root` is a document of the kind ConfigMap or Secret of Kubernetes.
bool is_key_document(const bundle::Node& root);

/// A ConfigMap or a Secret, with its name.
struct NamedKeys {
  std::string name;  // as in --secret: kConfigMapPrefix stands before the name of a config map
  KeyDocument document;
};
bool read_key_document(bundle::Value at, NamedKeys& out);

/// The name of a secret or a config map in messages: "the config map \"m\"", "the secret \"s\"".
/// `name` is as in --secret.
std::string shown_secret(std::string_view name);

/// The names of all secrets and config maps that `pod` uses for variables or files.
std::vector<std::string> used_secrets(const Pod& pod);

}  // namespace ocirun::pods
