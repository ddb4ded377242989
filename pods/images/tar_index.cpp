#include "pods/images/tar_index.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/images/libarchive.hpp"

namespace ocirun::pods {
namespace {

using bundle::in_quotes;

constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;
constexpr int kMaxLinks = 8;

std::string_view bytes(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

Result<TarIndex> TarIndex::read(ByteStream& archive, std::size_t most_entries) {
  TarIndex index;
  ArchiveHandle handle(archive);
  archive_read_support_format_tar(handle.get());
  archive_read_support_format_empty(handle.get());
  TRY(within(handle.open(), "read the tar archive"));
  for (std::size_t count = 0;; ++count) {
    archive_entry* header = nullptr;
    const int status = archive_read_next_header(handle.get(), &header);
    if (status == ARCHIVE_EOF) return index;
    // A warning is about a part of a header, and comes again for whoever opens the entry.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
      return within(Result<TarIndex>(std::unexpected(handle.error())), "read the tar archive");
    if (count == most_entries) return refuse("the archive has more than {} entries", most_entries);
    TRY(index.add(header, static_cast<std::uint64_t>(archive_read_header_position(handle.get()))));
  }
}

Result<void> TarIndex::add(archive_entry* header, std::uint64_t position) {
  const std::string_view name = bytes(archive_entry_pathname(header));
  const std::string_view hard_link = bytes(archive_entry_hardlink(header));
  const std::string_view symlink = bytes(archive_entry_symlink(header));
  name_bytes_ += name.size() + hard_link.size() + symlink.size();
  if (name_bytes_ > kMaxNameBytes)
    return refuse("the archive has names of more than {} bytes", kMaxNameBytes);
  const auto type = archive_entry_filetype(header);
  if (type == AE_IFDIR && hard_link.empty()) return {};
  auto path = plain_path(name);
  if (!path) return refuse("the name {} leads out of the archive", in_quotes(name));
  Entry entry{Kind::kOther, "", position};
  if (!hard_link.empty()) {
    entry.kind = Kind::kLink;
    entry.target = plain_path(hard_link).value_or("");
  } else if (type == AE_IFLNK) {
    const std::string directory = path->substr(0, path->rfind('/') + 1);
    entry.kind = Kind::kLink;
    entry.target = plain_path(fmt::format("{}/{}", directory, symlink)).value_or("");
  } else if (type == AE_IFREG) {
    entry.kind = Kind::kFile;
  }
  if (!entries_.emplace(*std::move(path), std::move(entry)).second)
    return refuse("the archive has the name {} twice", in_quotes(name));
  return {};
}

Result<TarIndex::File> TarIndex::find(const std::string& name) const {
  std::string path = name;
  for (int links = 0; links <= kMaxLinks; ++links) {
    const auto found = entries_.find(path);
    if (found == entries_.end()) return fail(ENOENT, "open {}", in_quotes(path));
    const Entry& entry = found->second;
    if (entry.kind == Kind::kFile) return File{std::move(path), entry.position};
    if (entry.kind != Kind::kLink) return refuse("{}: must be a regular file", in_quotes(path));
    path = entry.target;
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

}  // namespace ocirun::pods
