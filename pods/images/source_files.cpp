#include "pods/images/source_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/images/unpack_process.hpp"

namespace ocirun::pods {
namespace {

using bundle::in_quotes;
using Kind = ArchiveMember::Kind;

constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;
constexpr int kMaxLinks = 8;

/// The path that a link leads to; "" for one that leads out of the archive.
std::string destination(const ArchiveMember& link, const std::string& path) {
  const std::string directory =
      link.kind == Kind::kSymlink ? path.substr(0, path.rfind('/') + 1) : "";
  return plain_path(fmt::format("{}/{}", directory, link.target)).value_or("");
}

}  // namespace

Result<void> TarIndex::add(const ArchiveMember& member, std::uint64_t archive_bytes) {
  name_bytes_ += member.name.size() + member.target.size();
  if (name_bytes_ > kMaxNameBytes)
    return refuse("the archive has names of more than {} bytes", kMaxNameBytes);
  auto path = plain_path(member.name);
  if (!path) return refuse("the name {} leads out of the archive", in_quotes(member.name));
  Entry entry{.kind = member.kind, .target = "", .file = {}};
  if (member.kind == Kind::kSymlink || member.kind == Kind::kHardLink)
    entry.target = destination(member, *path);
  if (member.kind == Kind::kFile) {
    if (member.offset > archive_bytes || member.size > archive_bytes - member.offset)
      return refuse("{}: the archive ends before this file does", in_quotes(member.name));
    entry.file = {.offset = member.offset, .size = member.size};
  }
  if (!entries_.emplace(*std::move(path), std::move(entry)).second)
    return refuse("the archive has the name {} twice", in_quotes(member.name));
  return {};
}

Result<TarIndex::File> TarIndex::find(const std::string& name) const {
  std::string path = name;
  for (int links = 0; links <= kMaxLinks; ++links) {
    const auto found = entries_.find(path);
    if (found == entries_.end()) return fail(ENOENT, "open {}", in_quotes(path));
    const Entry& entry = found->second;
    switch (entry.kind) {
      case Kind::kFile:
        return entry.file;
      case Kind::kSparse:
        return refuse("{}: a sparse file in an archive of an image", in_quotes(path));
      case Kind::kOther:
        return refuse("{}: must be a regular file", in_quotes(path));
      case Kind::kSymlink:
      case Kind::kHardLink:
        path = entry.target;
    }
  }
  return fail(ELOOP, "open {}", in_quotes(name));
}

std::optional<std::string> plain_path(std::string_view text) {
  std::vector<std::string_view> kept;
  for (const std::string_view component : linux::words(text, '/')) {
    if (component == ".") continue;
    if (component != "..") {
      kept.push_back(component);
    } else {
      if (kept.empty()) return std::nullopt;
      kept.pop_back();
    }
  }
  return fmt::format("{}", fmt::join(kept, "/"));
}

namespace {

namespace sys = linux::sys;

/// For filesystems without O_TMPFILE, such as overlayfs before Linux 6.3.
Result<UniqueFd> make_and_unlink(Fd directory) {
  for (;;) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
      return sys::last_error("choose a random name");
    const std::string name = fmt::format("ocirun-{:016x}", number);
    auto made = sys::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!made && made.error().number() == EEXIST) continue;
    if (made) OCIRUN_TRY(sys::unlinkat(directory, name.c_str(), 0));
    return made;
  }
}

/// Makes a file on the filesystem of `directory` that only the descriptor refers to, open for
/// reading and writing: whatever happens to the process, the file does not outlive it. Errors:
/// ENOENT, EACCES … for the directory.
Result<UniqueFd> make_unnamed_file(const HostPath& directory) {
  const std::string what = fmt::format("temporary file in {}", directory.string());
  OCIRUN_TRY_ASSIGN(const UniqueFd opened,
                    within(sys::open(directory.c_str(), O_PATH | O_DIRECTORY), what));
  auto made = sys::openat(opened, ".", O_TMPFILE | O_RDWR, 0600);
  const bool is_unknown =
      !made && (made.error().number() == EOPNOTSUPP || made.error().number() == EISDIR);
  return within(is_unknown ? make_and_unlink(opened) : std::move(made), what);
}

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
    OCIRUN_TRY_ASSIGN(const TarIndex::File file, index_.find(name));
    OCIRUN_TRY_ASSIGN(UniqueFd copy, copy_of(archive_));
    return FileRange(std::move(copy), file.offset, file.size);
  }

 private:
  UniqueFd archive_;  // uncompressed
  TarIndex index_;
};

Result<Compression> compression_in(Fd file) {
  OCIRUN_TRY_ASSIGN(UniqueFd copy, copy_of(file));
  std::array<char, 4> first;
  OCIRUN_TRY_ASSIGN(const std::size_t got,
                    FileRange(std::move(copy)).read(first.data(), first.size()));
  return compression_of(std::string_view(first.data(), got));
}

bool is_full(const Error& error) { return error.number() == ENOSPC || error.number() == EDQUOT; }

Result<std::unique_ptr<SourceFiles>> open_archive_files(UniqueFd file,
                                                        const SourceOptions& options) {
  OCIRUN_TRY_ASSIGN(const Compression compression, compression_in(file));
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
  if (static_cast<std::uint64_t>(info.st_size) > options.limits.archive_bytes)
    return refuse("the archive has more than {} bytes", options.limits.archive_bytes);
  UniqueFd plain;
  if (compression != Compression::kNone) {
    OCIRUN_TRY_ASSIGN(plain, make_unnamed_file(options.temporary));
  }
  auto index = index_archive_apart(file, compression, plain, options.limits);
  if (!index && is_full(index.error()))
    index.error().within(fmt::format("temporary file in {}", options.temporary.string()));
  if (!index) return std::unexpected(std::move(index).error());
  return std::unique_ptr<SourceFiles>(
      std::make_unique<ArchiveFiles>(std::move(plain ? plain : file), *std::move(index)));
}

class DirectoryFiles : public SourceFiles {
 public:
  explicit DirectoryFiles(UniqueFd directory) : directory_(std::move(directory)) {}

  Result<FileRange> open(const std::string& name) const override {
    // O_NONBLOCK, so that opening a fifo does not wait.
    OCIRUN_TRY_ASSIGN(UniqueFd file,
                      directory_.open(RootfsPath(name), O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                      linux::SafeDir::Symlinks::kRefuse));
    OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
    if (!S_ISREG(info.st_mode))
      return refuse("{}: must be a regular file", bundle::in_quotes(name));
    return FileRange(std::move(file));
  }

 private:
  linux::SafeDir directory_;
};

/// Reads a whole blob, and verifies its size and digest. Errors: the blob has more than
/// kMaxDocument bytes; its size or digest differs from the descriptor.
Result<std::string> read_verified(ByteStream& stream, const Descriptor& descriptor) {
  if (descriptor.size > kMaxDocument)
    return refuse("a document of {} bytes, at most {} are read", descriptor.size, kMaxDocument);
  OCIRUN_TRY_ASSIGN(std::string text, read_whole(stream, kMaxDocument));
  if (text.size() != descriptor.size)
    return refuse("it has {} bytes, its descriptor says {}", text.size(), descriptor.size);
  const Digest digest = digest_of(text, descriptor.digest.algorithm());
  if (digest != descriptor.digest)
    return refuse("its content has the digest {}, it was changed or damaged", digest.text());
  return text;
}

}  // namespace

Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path,
                                                       const SourceOptions& options) {
  OCIRUN_TRY_ASSIGN(UniqueFd opened,
                    linux::sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(opened));
  if (S_ISDIR(info.st_mode))
    return std::unique_ptr<SourceFiles>(std::make_unique<DirectoryFiles>(std::move(opened)));
  if (!S_ISREG(info.st_mode)) return refuse("{}: neither a directory nor a file", path.string());
  return within(open_archive_files(std::move(opened), options), path.string());
}

Result<std::string> DocumentReader::read(const std::string& name) {
  OCIRUN_TRY_ASSIGN(FileRange file, files_.open(name));
  return counted(within(read_whole(file, kMaxDocument), bundle::escaped(name)));
}

Result<std::string> DocumentReader::read_blob(const Descriptor& descriptor) {
  OCIRUN_TRY_ASSIGN(FileRange file, files_.open(blob_name(descriptor.digest)));
  return counted(within(read_verified(file, descriptor), "blob {}", descriptor.digest.text()));
}

Result<std::string> DocumentReader::counted(Result<std::string> document) {
  if (!document) return document;
  if (document->size() > most_ - bytes_)
    return refuse("the indexes, manifests and configurations have more than {} bytes", most_);
  bytes_ += document->size();
  return document;
}

std::string blob_name(const Digest& digest) {
  return fmt::format("blobs/{}/{}", digest.algorithm_name(), digest.hex());
}

}  // namespace ocirun::pods
