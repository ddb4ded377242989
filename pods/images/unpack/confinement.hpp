#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "linux/base/error.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/trees/byte_stream.hpp"
#include "pods/images/unpack_job.hpp"

namespace ocirun::pods {

/// What a process does that reads an archive. kIndex: only reads. kUnpack: also fills a directory.
enum class ArchiveWork : std::uint8_t { kIndex, kUnpack };

/// Loads a filter that allows only the system calls of the work; any other call ends the process.
/// No allowed call executes a file, maps executable memory, makes a process, a socket, a mount or a
/// namespace, or acts on another process. Opening a file by a path that does not begin at a
/// descriptor fails with ENOENT: libc would otherwise load modules of character sets, which may be
/// a layer's. The process must have no_new_privs. Errors: the kernel has no seccomp filters.
Result<void> allow_calls(ArchiveWork work);

/// The directories of a process that unpacks a layer.
struct LayerPlaces {
  Fd into;
  std::optional<Fd> below;  // the directory of the store that has the layers below
};

/// Confines the calling process, which unpacks a layer. It keeps only the descriptors `report`,
/// `keep` and those of `places`, the few capabilities that unpacking needs, and a part of the
/// memory. It makes no core dumps. If it may make a mount namespace, it sees only `places.into`
/// and, read-only, `places.below`, and the descriptors in `places` change. It is killed when its
/// caller ends, which must be the only reader of the pipe `report`.
Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, Fd report, std::span<const Fd> keep);

/// Confines the calling process, which must do nothing else, then does the job, and reports to the
/// pipe `report`. Returns the exit status: 0 if the report has the outcome, else kNoMemoryStatus.
/// `keep` are further descriptors that stay open; that of `blob` must be among them.
int serve(const LayerJob& job, ByteStream& blob, LayerPlaces places, Fd report,
          std::span<const Fd> keep);
/// Like the other serve(), for the job of indexing an archive. The archive and the report have the
/// descriptors of unpack_job.hpp.
int serve(const IndexJob& job);

}  // namespace ocirun::pods
