#pragma once

#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Compares what the security modules call process `pid` with /process/apparmorProfile and
/// /process/selinuxLabel, where the document has them. Errors: a sentence that names the
/// difference.
Result<void> compare_labels(const linux::Procfs& procfs, int pid, const bundle::Process& process);

/// Whether `label`, the text "NAME (MODE)" of AppArmor, is of `profile`, or of a profile that
/// `profile` has inside of itself or is stacked with ("PROFILE//NAME").
bool is_of_profile(std::string_view label, std::string_view profile);

}  // namespace ocirun::runtime
