#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// A file that a command writes into the directory of --output.
struct OutputFile {
  std::string name;
  std::string text;
};

/// Writes all files, each atomically and with the mode, or after an error none that was not there
/// before. A file that was there is replaced.
Result<void> write_files(Fd directory, std::span<const OutputFile> files, mode_t mode);

/// Checks that the file `name` in `directory` may be replaced: it is absent, or its text begins with
/// `first_words`. Errors: EEXIST, which says that `writer` has not written it; it is no regular file.
Result<void> check_own_file(Fd directory, const std::string& name, std::string_view first_words,
                            std::string_view writer);

}  // namespace ocirun::pods
