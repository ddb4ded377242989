#pragma once

#include <string>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/error.hpp"
#include "pods/model/security.hpp"

namespace ocirun::pods {

/// The capabilities that a container has ("CAP_CHOWN" …). Errors: an unknown name.
Result<std::vector<std::string>> kept_capabilities(const Security& security);
/// Writes process.capabilities.
void write_capabilities(bundle::JsonWriter& out, const std::vector<std::string>& kept);

}  // namespace ocirun::pods
