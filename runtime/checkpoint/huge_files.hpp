#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Finds out whether the container has files of the host that consist of huge pages (hugetlbfs).
/// The kernel rounds a mapping of such a file up to whole pages. CRIU does not: with forged images,
/// it would map the file over its own memory. Error: it has such files.
Result<void> check_no_huge_files(const bundle::Config& config, const linux::Procfs& procfs);

}  // namespace ocirun::runtime
