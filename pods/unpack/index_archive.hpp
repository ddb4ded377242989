#pragma once

#include <functional>

#include "linux/base/unique_fd.hpp"
#include "pods/images/byte_stream.hpp"
#include "pods/images/source_files.hpp"

namespace ocirun::pods {

/// Uncompresses `archive` into the empty file `plain`. Errors: damaged data; more than `most`
/// bytes; ENOSPC ….
Result<void> uncompress(ByteStream& archive, Compression compression, Fd plain, std::uint64_t most);

/// Calls `on_member` for each entry of an uncompressed tar archive that is no directory. Errors: a
/// damaged archive; more than `most_entries` entries of any kind; those of `on_member`.
Result<void> index_archive(ByteStream& archive, std::uint64_t most_entries,
                           const std::function<Result<void>(const ArchiveMember&)>& on_member);

}  // namespace ocirun::pods
