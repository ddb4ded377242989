#include "pods/images/layer.hpp"

#include "bundle/json/writer.hpp"

namespace ocirun::pods {

std::string shown_name(const LayerBlob& layer) {
  return layer.digest ? layer.digest->text() : bundle::in_quotes(layer.file);
}

const char* attribute_name(OpaqueMark mark) {
  return mark == OpaqueMark::kTrusted ? "trusted.overlay.opaque" : "user.overlay.opaque";
}

}  // namespace ocirun::pods
