#include "pods/images/archive_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "pods/images/tar_index.hpp"
#include "pods/images/unnamed_file.hpp"
#include "pods/images/unpack_process.hpp"

namespace ocirun::pods {
namespace {

Result<UniqueFd> copy_of(Fd descriptor) {
  UniqueFd copy(::fcntl(descriptor.value, F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail(errno, "copy a descriptor");
  return copy;
}

class ArchiveFiles : public SourceFiles {
 public:
  ArchiveFiles(UniqueFd archive, TarIndex index)
      : archive_(std::move(archive)), index_(std::move(index)) {}

  Result<FileRange> open(const std::string& name) const override {
    TRY_ASSIGN(const TarIndex::File file, index_.find(name));
    TRY_ASSIGN(UniqueFd copy, copy_of(archive_));
    return FileRange(std::move(copy), file.offset, file.size);
  }

 private:
  UniqueFd archive_;  // uncompressed
  TarIndex index_;
};

Result<Compression> compression_in(Fd file) {
  TRY_ASSIGN(UniqueFd copy, copy_of(file));
  std::array<char, 4> first;
  TRY_ASSIGN(const std::size_t got, FileRange(std::move(copy)).read(first.data(), first.size()));
  return compression_of(std::string_view(first.data(), got));
}

bool is_full(const Error& error) { return error.number() == ENOSPC || error.number() == EDQUOT; }

}  // namespace

Result<std::unique_ptr<SourceFiles>> open_archive_files(UniqueFd file,
                                                        const SourceOptions& options) {
  TRY_ASSIGN(const Compression compression, compression_in(file));
  TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
  if (static_cast<std::uint64_t>(info.st_size) > options.limits.archive_bytes)
    return refuse("the archive has more than {} bytes", options.limits.archive_bytes);
  UniqueFd plain;
  if (compression != Compression::kNone) {
    TRY_ASSIGN(plain, make_unnamed_file(options.temporary));
  }
  auto index = index_archive_apart(file, compression, plain, options.limits);
  if (!index && is_full(index.error()))
    index.error().within(fmt::format("temporary file in {}", options.temporary.string()));
  if (!index) return std::unexpected(std::move(index).error());
  return std::unique_ptr<SourceFiles>(
      std::make_unique<ArchiveFiles>(std::move(plain ? plain : file), *std::move(index)));
}

}  // namespace ocirun::pods
