#pragma once

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"

namespace ocirun::bundle {

/// What a 0.5 or 0.6 document demands that later editions do not know: the platform is ours (SD-2),
/// names of environment variables are letters, digits and underscores (SD-7).
void check_legacy_rules(const Node& root, Report& report);

/// Rewrites a 0.5 or 0.6 document in place into its 1.3 form, so that the typed parser knows one
/// form only (matrix §3). A document that uses an old and a new name for the same thing is refused.
/// Messages about what was rewritten still name what the user wrote.
void legacy_to_current(Document& document, Report& report);

}  // namespace ocirun::bundle
