#include "pods/images/trees/entry.hpp"

namespace ocirun::pods {

const char* attribute_name(OpaqueMark mark) {
  return mark == OpaqueMark::kTrusted ? "trusted.overlay.opaque" : "user.overlay.opaque";
}

}  // namespace ocirun::pods
