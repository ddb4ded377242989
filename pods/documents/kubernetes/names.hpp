#pragma once

#include <string_view>

#include "pods/documents/model/container.hpp"

namespace ocirun::pods {

/// Whether Kubernetes accepts the text as a key of labels and annotations: [DOMAIN/]NAME.
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);
/// Whether Kubernetes accepts the text as the name of a port.
bool is_port_name(std::string_view text);

}  // namespace ocirun::pods
