
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/confined/confine.hpp"
#include "pods/images/unpack/confinement.hpp"
#include "pods/images/unpack/libarchive.hpp"
#include "pods/images/unpack/unpack_layer.hpp"

namespace ocirun::pods {
namespace {

/// Runs a job, and reports its result or its error. Ignores a failure to report, because then there
/// is no reader.
template <typename Work>
int report_outcome(Fd report, Work work) {
  expect_utf8_names();
  linux::reserve_memory();
  const auto outcome =
      linux::within_memory([&]() -> Result<Result<std::string>> { return work(); });
  if (!outcome) return kNoMemoryStatus;
  const Result<std::string>& done = *outcome;
  ignore(linux::write_all(report, done ? *done : failed_message(done.error())));
  return 0;
}

/// The uncompressed archive: the archive itself, or its content in kIntoDescriptor.
Result<FileRange> plain_archive(const IndexJob& job) {
  FileRange archive(UniqueFd{kArchiveDescriptor});
  if (job.compression == Compression::kNone) return archive;
  OCIRUN_TRY(uncompress(archive, job.compression, Fd{kIntoDescriptor}, job.most_bytes));
  return FileRange(UniqueFd{kIntoDescriptor});
}

}  // namespace

int serve(const LayerJob& job, ByteStream& blob, LayerPlaces places, Fd report,
          std::span<const Fd> keep) {
  return report_outcome(report, [&]() -> Result<std::string> {
    constexpr const char* kStep = "confine the process that unpacks a layer";
    OCIRUN_TRY(within(confine_to(places, job.options.mark, report, keep), kStep));
    OCIRUN_TRY(within(allow_calls(ArchiveWork::kUnpack), kStep));
    UnpackOptions options = job.options;
    if (job.reports_progress)
      options.progress = [&](std::uint64_t bytes) {
        ignore(linux::write_all(report, progress_message(bytes)));
      };
    const LowerLayers below{places.below.value_or(Fd{-1}), job.below};
    OCIRUN_TRY_ASSIGN(const UnpackedLayer unpacked,
                      unpack_layer(blob, job.layer, places.into, below, options));
    return done_message(unpacked);
  });
}

int serve(const IndexJob& job) {
  return report_outcome(Fd{kReportDescriptor}, [&]() -> Result<std::string> {
    constexpr const char* kStep = "confine the process that reads an archive";
    OCIRUN_TRY(within(linux::confine_to_descriptors({.caller = Fd{kReportDescriptor},
                                                     .last_descriptor = kIntoDescriptor,
                                                     .file_bytes = job.most_bytes,
                                                     .memory = kMostUnpackMemory}),
                      kStep));
    OCIRUN_TRY(within(allow_calls(ArchiveWork::kIndex), kStep));
    OCIRUN_TRY_ASSIGN(FileRange archive, plain_archive(job));
    OCIRUN_TRY(index_archive(archive, job.most_entries, [](const ArchiveMember& member) {
      return linux::write_all(Fd{kReportDescriptor}, member_message(member));
    }));
    return done_message({});
  });
}

}  // namespace ocirun::pods
