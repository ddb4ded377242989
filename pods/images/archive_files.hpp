#pragma once

#include "pods/images/source_files.hpp"

namespace ocirun::pods {

/// The files of the tar archive that `file` is. Errors: those of open_source_files().
Result<std::unique_ptr<SourceFiles>> open_archive_files(UniqueFd file,
                                                        const SourceOptions& options);

}  // namespace ocirun::pods
