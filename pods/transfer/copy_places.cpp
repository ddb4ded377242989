#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/transfer/copy_files.hpp"

namespace ocirun::pods {
namespace {

/// The path of the parent directory, and the last component.
Result<std::pair<std::string, std::string>> split_path(const std::string& path) {
  OCIRUN_TRY_ASSIGN(auto parts, linux::SafeDir::split(RootfsPath(path)));
  if (parts.first.empty()) parts.first = path.starts_with('/') ? "/" : ".";
  return parts;
}

bool ends_in_slash(const std::string& path) { return path.ends_with('/') || path.ends_with("/."); }

}  // namespace

Result<CopySource> open_copy_source(const PathOpener& open, const std::string& path) {
  CopySource source{.entry = {}, .name = {}, .path = path};
  OCIRUN_TRY_ASSIGN(source.entry, within(open(path, O_PATH | O_NOFOLLOW), bundle::escaped(path)));
  if (path.ends_with("/.")) return source;
  if (const auto parts = split_path(path)) source.name = parts->second;
  return source;
}

Result<CopyTarget> open_copy_target(const PathOpener& open, const std::string& path,
                                    const CopySource& source) {
  CopyTarget target{.directory = {}, .name = source.name, .path = path};
  auto opened = [&]() -> Result<void> {
    auto directory = open(path, O_PATH | O_DIRECTORY);
    if (directory) {
      target.directory = *std::move(directory);
      return {};
    }
    if (!is_missing(directory)) return std::unexpected(directory.error());
    OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(source.entry));
    if (ends_in_slash(path) && !S_ISDIR(info.st_mode)) return std::unexpected(directory.error());
    OCIRUN_TRY_ASSIGN(const auto parts, split_path(path));
    OCIRUN_TRY_ASSIGN(target.directory, open(parts.first, O_PATH | O_DIRECTORY));
    target.name = parts.second;
    return {};
  }();
  OCIRUN_TRY(within(std::move(opened), bundle::escaped(path)));
  return target;
}

}  // namespace ocirun::pods
