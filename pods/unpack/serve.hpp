#pragma once

#include <span>

#include "pods/images/byte_stream.hpp"
#include "pods/images/unpack_job.hpp"
#include "pods/unpack/confinement.hpp"

namespace ocirun::pods {

/// Confines the calling process, which must do nothing else, then does the job, and reports to the
/// pipe `report`. Returns the exit status: 0 if the report has the outcome, else kNoMemoryStatus.
/// `keep` are further descriptors that stay open; it must have that of `blob`.
int serve(const LayerJob& job, ByteStream& blob, LayerPlaces places, Fd report,
          std::span<const Fd> keep);
/// The same for the job of indexing an archive. Uses the descriptors of unpack_job.hpp.
int serve(const IndexJob& job);

}  // namespace ocirun::pods
