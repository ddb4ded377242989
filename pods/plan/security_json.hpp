#pragma once

#include "bundle/json/writer.hpp"
#include "linux/base/error.hpp"
#include "pods/documents/security.hpp"

namespace ocirun::pods {

/// Writes process.capabilities. Errors: an unknown name.
Result<void> write_capabilities(bundle::JsonWriter& out, const Security& security);
/// Writes linux.seccomp, if the document asks for a filter. Errors: the name of an error or of a
/// set of system calls that is not known.
Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security);

}  // namespace ocirun::pods
