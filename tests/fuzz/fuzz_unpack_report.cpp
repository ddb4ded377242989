// Any bytes as the report of ocirun-unpack, which somebody may have taken over. A member that was
// read has the same text again; nothing is longer than the input, an error not than 256 KiB.
#include <sys/mman.h>
#include <unistd.h>

#include "linux/base/file_io.hpp"
#include "pods/images/unpack_job.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;
using namespace ocirun::pods;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostError = std::size_t{256} << 10;
  const std::string_view text = fuzz::text_of(data, size);
  const UniqueFd file(::memfd_create("report", MFD_CLOEXEC));
  fuzz::require(static_cast<bool>(linux::write_all(file, text)));
  fuzz::require(::lseek(file.get(), 0, SEEK_SET) == 0);
  std::size_t members = 0;
  const auto report = read_report(
      file, [](std::uint64_t) {},
      [&](const ArchiveMember& member) -> Result<void> {
        ++members;
        const std::string again = member_message(member);
        fuzz::require(member.name.size() + member.target.size() <= size);
        fuzz::require(again.ends_with(member.name + member.target + '\0'));
        return {};
      });
  fuzz::require(members <= size);
  if (report && report->error) fuzz::require(report->error->message().size() <= kMostError + 1024);
  return 0;
}
