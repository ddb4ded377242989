#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bundle/json/writer.hpp"
#include "linux/base/error.hpp"
#include "pods/model/security.hpp"

namespace ocirun::pods {

/// --seccomp: the filter for the system calls of containers whose documents name none.
struct SeccompChoice {
  enum class Kind : std::uint8_t { kDefault, kUnconfined, kProfile };
  Kind kind = Kind::kDefault;
  std::string profile;  // kProfile: the text of a JSON object of the form of linux.seccomp
};

/// Checks the text of a profile. Errors name the value by its JSON pointer; a profile in the form
/// that engines read has members that linux.seccomp lacks, and is refused.
Result<SeccompChoice> read_seccomp_profile(std::string text);

/// Writes linux.seccomp: what the document asks for, else the choice. The default filter depends on
/// the container's `capabilities`. Errors: the document names an error or a set of system calls
/// that is not known.
Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security,
                           std::span<const std::string> capabilities, const SeccompChoice& choice);

/// Writes the value of linux.seccomp for a container with these capabilities: the filter of every
/// container for which nobody names another.
///
/// The filter is a list of what is allowed. A call that the list refuses fails with EPERM, as
/// programs know from calls that need a privilege. A call that the list does not know fails with
/// ENOSYS: the kernel may be newer than the list, and the C library tries newer calls first and
/// falls back to older ones on ENOSYS alone. The default action says ENOSYS, so that this does not
/// depend on the runtime.
void write_default_seccomp(bundle::JsonWriter& out, std::span<const std::string> capabilities);

}  // namespace ocirun::pods
