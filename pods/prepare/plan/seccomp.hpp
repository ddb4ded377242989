#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bundle/json/writer.hpp"
#include "linux/base/error.hpp"
#include "pods/documents/model/security.hpp"

namespace ocirun::pods {

/// --seccomp: the filter for containers whose document names none.
struct SeccompChoice {
  enum class Kind : std::uint8_t { kDefault, kUnconfined, kProfile };
  Kind kind = Kind::kDefault;
  std::string profile;  // kProfile: the text of a JSON object of the form of linux.seccomp
};

/// Checks the text of a profile. Errors name the value by its JSON pointer. A profile in the form
/// that engines read is refused, because it has other members than linux.seccomp.
Result<SeccompChoice> read_seccomp_profile(std::string text);

/// Writes linux.seccomp: the filter that the document asks for, else `choice`. The default filter
/// depends on the container's `capabilities`. Errors: the document has an unknown name of an errno
/// or of a set of system calls.
Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security,
                           std::span<const std::string> capabilities, const SeccompChoice& choice);

/// Writes the default filter for a container with these capabilities.
///
/// The filter allows the calls of a list. A known call that it does not allow fails with EPERM, as
/// a call without the needed privilege does. An unknown call fails with ENOSYS: the kernel may be
/// newer than the list, and the C library falls back from a newer call to an older one only on
/// ENOSYS. The default action has the errno ENOSYS, so that this does not depend on the runtime.
void write_default_seccomp(bundle::JsonWriter& out, std::span<const std::string> capabilities);

}  // namespace ocirun::pods
