#pragma once

#include <string_view>

namespace ocirun::pods {

/// The architecture of this build, by Go's name: amd64, arm64, …, as images and OAM write it.
std::string_view host_architecture();

}  // namespace ocirun::pods
