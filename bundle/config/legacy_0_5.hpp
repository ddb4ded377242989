#pragma once

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"

namespace ocirun::bundle {

/// Reports what only 0.5 and 0.6 forbid: a platform other than this host's (SD-2), and names of
/// environment variables with characters other than letters, digits and underscores (SD-7).
void check_legacy_rules(const Node& root, Report& report);

/// Rewrites a 0.5 or 0.6 document in place into its 1.3 form, the only form that the readers know
/// (matrix §3). An old name together with its new name is a problem. Messages about a rewritten
/// member still point to the user's original.
void legacy_to_current(Document& document, Report& report);

}  // namespace ocirun::bundle
