#include "pods/images/tar_index.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"

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

}  // namespace ocirun::pods
