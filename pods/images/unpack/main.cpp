// ocirun-unpack: unpacks one layer of an image, or tells where the files of an archive are. It is
// the only program that loads libarchive. An exploited bug of libarchive or its decompressors gets
// only a process that has nothing but the archive, and the directory that it fills. Command line,
// descriptors and messages: pods/images/unpack_job.hpp. Ends with its caller.

#include <fcntl.h>
#include <unistd.h>

#include <span>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "pods/images/unpack/confinement.hpp"

namespace ocirun::pods {
namespace {

/// The descriptors from `first` on that are open, one after another.
std::vector<Fd> open_from(int first) {
  std::vector<Fd> found;
  for (int number = first; ::fcntl(number, F_GETFD) >= 0; ++number) found.push_back(Fd{number});
  return found;
}

int run(std::span<const std::string> words) {
  if (const auto job = parse_index_job(words)) return serve(*job);
  const auto job = parse_layer_job(words);
  if (!job) {
    ignore(linux::write_all(Fd{STDERR_FILENO},
                            "ocirun-unpack is a part of ocirun and not for use by hand\n"));
    return 2;
  }
  FileRange blob(UniqueFd{kArchiveDescriptor}, job->offset, job->size);
  std::vector<Fd> keep = open_from(kMoreDescriptor);
  LayerPlaces places{.into = Fd{kIntoDescriptor}, .below = {}};
  if (!job->below.empty() && !keep.empty()) {
    places.below = keep.front();
    keep.erase(keep.begin());
  }
  keep.push_back(blob.file());
  return serve(*job, blob, places, Fd{kReportDescriptor}, keep);
}

}  // namespace
}  // namespace ocirun::pods

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  ::_exit(ocirun::pods::run(words));  // nothing at the end of a program may need what was given up
}
