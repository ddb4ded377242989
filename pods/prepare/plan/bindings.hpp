#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The values of the command line for what the document only names.
struct Bindings {
  std::map<std::string, std::string> parameters;  // --param NAME=VALUE
  std::map<std::string, HostPath> secrets;        // --secret ID=DIR: DIR has a file for each key
};

/// The secrets and config maps of a pod. They come from the files of --secret, else from the
/// documents beside the workload.
struct Secrets {
  const Bindings& bindings;
  const Pod& pod;

  /// Whether --secret or a document gives the secret.
  bool have(const std::string& secret) const;
  /// The value of a key for a variable; nothing if the key is optional and absent. Errors, which
  /// name the secret: --secret is missing; the key is absent, or no name of a file; the value has
  /// NUL, or more than 1 MiB.
  Result<std::optional<std::string>> variable(const SecretKey& key) const;
  /// All keys of a secret that can be names of variables, with their values; none if the secret is
  /// optional and absent. Errors: those of variable().
  Result<std::map<std::string, std::string>> variables(const EnvSource& source) const;
  /// All keys of a secret for files, whose values may have any bytes. Errors: the secret is absent;
  /// those of variable().
  Result<std::map<std::string, std::string>> files(const std::string& secret) const;
};

using Variables = std::map<std::string, std::string, std::less<>>;

/// What becomes of a reference to an unknown variable.
enum class Unknown : std::uint8_t { kKept, kLeftOut };

/// Replaces each "$(NAME)" by the value of the variable, as Kubernetes does. "$$" becomes "$", and
/// begins no reference. Errors: E2BIG: the text would have more than `most` bytes.
Result<std::string> expand(std::string_view text, const Variables& variables, std::size_t most,
                           Unknown unknown = Unknown::kKept);

}  // namespace ocirun::pods
