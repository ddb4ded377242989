#include "pods/images/source_files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <map>
#include <optional>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/images/tar_reader.hpp"

namespace ocirun::pods {
namespace {

using bundle::in_quotes;
using Stream = std::unique_ptr<ByteStream>;

constexpr std::size_t kMaxEntries = 100'000;
constexpr int kMaxLinks = 8;

class DirectoryFiles : public SourceFiles {
 public:
  explicit DirectoryFiles(UniqueFd directory) : directory_(std::move(directory)) {}

  Result<Stream> open(const std::string& name) const override {
    // O_NONBLOCK: nobody may make this wait with a fifo.
    TRY_ASSIGN(UniqueFd file, directory_.open(RootfsPath(name), O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                              linux::SafeDir::Symlinks::kRefuse));
    TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
    if (!S_ISREG(info.st_mode)) return refuse("{}: must be a regular file", in_quotes(name));
    return Stream(std::make_unique<FileStream>(std::move(file)));
  }

 private:
  linux::SafeDir directory_;
};

/// The path from the archive's root: "a/../b/./c" is "b/c". Nothing if it leads out.
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

/// The archive from its beginning, uncompressed.
struct OpenArchive {
  explicit OpenArchive(Fd file, Compression compression)
      : bytes(file),
        plain(compression == Compression::kNone
                  ? nullptr
                  : std::make_unique<DecompressedStream>(bytes, compression)),
        reader(plain ? static_cast<ByteStream&>(*plain) : bytes) {}
  PositionedStream bytes;
  std::unique_ptr<DecompressedStream> plain;
  TarReader reader;
};

/// The content of the entry that was read last.
class EntryStream : public ByteStream {
 public:
  explicit EntryStream(std::unique_ptr<OpenArchive> archive) : archive_(std::move(archive)) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    while (rest_.empty()) {
      TRY_ASSIGN(const auto piece, archive_->reader.read_piece());
      if (!piece) return std::size_t{0};
      if (piece->offset != offset_) return refuse("a sparse file in an archive of an image");
      rest_ = piece->data;
      offset_ += rest_.size();
    }
    const std::size_t count = rest_.copy(to, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::unique_ptr<OpenArchive> archive_;
  std::string_view rest_;
  std::uint64_t offset_ = 0;
};

class ArchiveFiles : public SourceFiles {
 public:
  static Result<std::unique_ptr<SourceFiles>> of(UniqueFd file) {
    PositionedStream beginning(file);
    PeekedStream peeked(beginning);
    TRY_ASSIGN(const std::string_view first, peeked.peek(4));
    std::unique_ptr<ArchiveFiles> files(new ArchiveFiles(std::move(file), compression_of(first)));
    TRY(files->read_names());
    return std::unique_ptr<SourceFiles>(std::move(files));
  }

  Result<Stream> open(const std::string& name) const override {
    TRY_ASSIGN(const std::string path, resolve(name));
    auto archive = std::make_unique<OpenArchive>(file_, compression_);
    for (;;) {
      TRY_ASSIGN(const auto entry, archive->reader.next());
      if (!entry) return refuse("the archive was changed while it was read");
      if (plain_path(entry->name) == path)
        return Stream(std::make_unique<EntryStream>(std::move(archive)));
    }
  }

 private:
  struct Entry {
    TarEntry::Type type;
    std::string target;  // of a link, from the archive's root
  };

  ArchiveFiles(UniqueFd file, Compression compression)
      : file_(std::move(file)), compression_(compression) {}

  Result<void> read_names() {
    OpenArchive archive(file_, compression_);
    for (;;) {
      TRY_ASSIGN(const auto entry, archive.reader.next());
      if (!entry) return {};
      if (entry->type == TarEntry::Type::kDirectory) continue;
      auto path = plain_path(entry->name);
      if (!path) return refuse("the name {} leads out of the archive", in_quotes(entry->name));
      if (entries_.size() == kMaxEntries)
        return refuse("the archive has more than {} entries", kMaxEntries);
      const std::size_t slash = path->rfind('/');
      const bool is_relative =
          entry->type == TarEntry::Type::kSymlink && slash != std::string::npos;
      const std::string base = is_relative ? path->substr(0, slash + 1) : "";
      const bool is_new =
          entries_
              .emplace(std::move(*path),
                       Entry{entry->type, plain_path(base + entry->target).value_or("")})
              .second;
      if (!is_new) return refuse("the archive has the name {} twice", in_quotes(entry->name));
    }
  }

  Result<std::string> resolve(const std::string& name) const {
    std::string path = name;
    for (int links = 0; links <= kMaxLinks; ++links) {
      const auto entry = entries_.find(path);
      if (entry == entries_.end()) return fail(ENOENT, "open {}", in_quotes(path));
      if (entry->second.type == TarEntry::Type::kFile) return path;
      const bool is_link = entry->second.type == TarEntry::Type::kSymlink ||
                           entry->second.type == TarEntry::Type::kHardLink;
      if (!is_link) return refuse("{}: must be a regular file", in_quotes(path));
      path = entry->second.target;
    }
    return fail(ELOOP, "open {}", in_quotes(name));
  }

  UniqueFd file_;
  Compression compression_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace

Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path) {
  TRY_ASSIGN(UniqueFd opened, linux::sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  TRY_ASSIGN(const struct stat info, linux::sys::fstat(opened));
  if (S_ISDIR(info.st_mode))
    return std::unique_ptr<SourceFiles>(std::make_unique<DirectoryFiles>(std::move(opened)));
  if (!S_ISREG(info.st_mode)) return refuse("{}: neither a directory nor a file", path.string());
  return within(ArchiveFiles::of(std::move(opened)), path.string());
}

}  // namespace ocirun::pods
