#pragma once

#include <map>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/documents/container.hpp"

namespace ocirun::pods {

/// What the operator gives to a pod on the command line, for what the document only names.
struct Bindings {
  std::map<std::string, std::string> parameters;  // --param NAME=VALUE
  std::map<std::string, HostPath> secrets;        // --secret ID=DIR: a file for each key
};

/// The value of a key of a secret: the bytes of the file DIR/KEY. Errors name the
/// option that is missing, a key that is no name of a file, a value with NUL or above 1 MiB.
Result<std::string> read_secret(const Bindings& bindings, const SecretKey& key);
/// All keys of a secret that can be names of variables, with their values. Errors as above.
Result<std::map<std::string, std::string>> read_secrets(const Bindings& bindings,
                                                        const std::string& secret);

}  // namespace ocirun::pods
