#pragma once

#include "bundle/json/value.hpp"

namespace ocirun::pods {

/// Reports an unknown cdiVersion of the specification `root`, and each member, name and kind that
/// only another version than cdiVersion allows.
void check_cdi_version(bundle::Value root);

}  // namespace ocirun::pods
