#pragma once

#include <span>

#include "pods/images/byte_stream.hpp"
#include "pods/images/unpack_job.hpp"
#include "pods/unpack/confinement.hpp"

namespace ocirun::pods {

/// Does a job in a process that does nothing else, confines the process first, and reports to the
/// pipe `report`. Returns the status for _exit(2): 0 if the report says how the job ended,
/// kNoMemoryStatus. `keep`: further descriptors that stay open, and that of `blob`.
int serve(const LayerJob& job, ByteStream& blob, LayerPlaces places, Fd report,
          std::span<const Fd> keep);
/// Likewise. Uses the descriptors of unpack_job.hpp.
int serve(const IndexJob& job);

}  // namespace ocirun::pods
