#pragma once

// Tar archives for tests, with entries that no honest program writes.

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pods/images/manifest.hpp"
#include "pods/images/trees/byte_stream.hpp"
#include "tests/pods/images/text_stream.hpp"

namespace ocirun::test {

struct TarItem {
  std::string name;
  unsigned type = AE_IFREG;
  std::string content{};
  std::string target{};  // of a symlink
  std::string link{};    // not "": a hard link to it
  unsigned mode = 0644;
  long uid = 0, gid = 0;
  long mtime = 1000;
  unsigned major = 0, minor = 0;
  std::vector<std::pair<std::string, std::string>> xattrs{};
  std::vector<std::pair<long, long>> holes{};  // pieces with data: offset, length
};

inline TarItem file(std::string name, std::string content = "", unsigned mode = 0644) {
  return {.name = std::move(name), .content = std::move(content), .mode = mode};
}
inline TarItem directory(std::string name, unsigned mode = 0755) {
  return {.name = std::move(name), .type = AE_IFDIR, .mode = mode};
}
inline TarItem symlink_to(std::string name, std::string target) {
  return {.name = std::move(name), .type = AE_IFLNK, .target = std::move(target), .mode = 0777};
}
inline TarItem hard_link(std::string name, std::string target) {
  return {.name = std::move(name), .link = std::move(target)};
}
inline TarItem device(std::string name, unsigned type, unsigned major, unsigned minor) {
  return {.name = std::move(name), .type = type, .major = major, .minor = minor};
}

/// A pax archive of `items`, as bytes.
inline std::string tar_of(const std::vector<TarItem>& items,
                          pods::Compression compression = pods::Compression::kNone) {
  std::string out;
  ::archive* const writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_set_options(writer, "hdrcharset=BINARY");
  if (compression == pods::Compression::kGzip) archive_write_add_filter_gzip(writer);
  if (compression == pods::Compression::kZstd) archive_write_add_filter_zstd(writer);
  archive_write_set_bytes_per_block(writer, 512);
  archive_write_set_bytes_in_last_block(writer, 1);
  const auto append = [](::archive*, void* to, const void* data, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  };
  archive_write_open(writer, &out, nullptr, append, nullptr);
  for (const TarItem& item : items) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_mode(entry, item.type | item.mode);
    if (!item.target.empty()) archive_entry_set_symlink(entry, item.target.c_str());
    if (!item.link.empty()) archive_entry_set_hardlink(entry, item.link.c_str());
    archive_entry_set_uid(entry, item.uid);
    archive_entry_set_gid(entry, item.gid);
    archive_entry_set_mtime(entry, item.mtime, 0);
    archive_entry_set_rdevmajor(entry, item.major);
    archive_entry_set_rdevminor(entry, item.minor);
    archive_entry_set_size(entry, static_cast<la_int64_t>(item.content.size()));
    for (const auto& [name, value] : item.xattrs)
      archive_entry_xattr_add_entry(entry, name.c_str(), value.data(), value.size());
    for (const auto& [offset, length] : item.holes)
      archive_entry_sparse_add_entry(entry, offset, length);
    if (archive_write_header(writer, entry) < ARCHIVE_WARN)
      throw std::runtime_error(archive_error_string(writer));
    if (!item.content.empty() && item.link.empty())
      archive_write_data(writer, item.content.data(), item.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return out;
}

/// A ustar header as its bytes, for archives that libarchive would not write. `size` is octal text.
inline std::string raw_header(std::string_view name, char type, std::string_view size) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  block.replace(108, 7, "0000000");
  block.replace(116, 7, "0000000");
  block.replace(124, size.size(), size);
  block.replace(136, 11, "00000001750");
  block[156] = type;
  block.replace(257, 5, "ustar");
  block.replace(263, 2, "00");
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum & 0777777U);
  block.replace(148, 7, std::string(text, 7));
  return block;
}
inline std::string padded(std::string text) {
  text.resize((text.size() + 511) / 512 * 512);
  return text;
}

}  // namespace ocirun::test
