#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// What the operator gives to a pod on the command line, for what the document only names.
struct Bindings {
  std::map<std::string, std::string> parameters;  // --param NAME=VALUE
  std::map<std::string, HostPath> secrets;        // --secret ID=DIR: a file for each key
};

/// The secrets and config maps of a pod: the files of --secret, else the document beside the
/// workload.
struct Secrets {
  const Bindings& bindings;
  const Pod& pod;

  /// Whether the operator or a document gives the secret.
  bool have(const std::string& secret) const;
  /// The value of a key for a variable; nothing if the key is optional and absent. Errors name the
  /// option that is missing, a key that is absent or no name of a file, a value with NUL or above
  /// 1 MiB.
  Result<std::optional<std::string>> variable(const SecretKey& key) const;
  /// All keys of a secret that can be names of variables, with their values; none if the secret is
  /// optional and absent. Errors as above.
  Result<std::map<std::string, std::string>> variables(const EnvSource& source) const;
  /// All keys of a secret, with any bytes. Errors: the secret is absent; as above.
  Result<std::map<std::string, std::string>> files(const std::string& secret) const;
};

using Variables = std::map<std::string, std::string, std::less<>>;

/// Replaces each "$(NAME)" by the variable, as Kubernetes does: a name that `variables` lacks stays
/// as it is written, and "$$" becomes "$" and begins no reference.
std::string expand(std::string_view text, const Variables& variables);

}  // namespace ocirun::pods
