#include "pods/images/unpack/lower_layers.hpp"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

}  // namespace

Result<std::optional<struct stat>> look(Fd directory, const std::string& name) {
  auto info = sys::fstatat(directory, name.c_str());
  if (info) return std::optional(*info);
  if (info.error().number() == ENOENT) return std::optional<struct stat>();
  return std::unexpected(std::move(info).error());
}

Result<Sight> look_in_layer(Fd layer, std::string_view path, OpaqueMark mark, LowerEntry& entry) {
  OCIRUN_TRY_ASSIGN(UniqueFd here, sys::openat(layer, ".", kDirectory));
  OCIRUN_TRY_ASSIGN(bool opaque, is_opaque(here, mark));
  const std::vector<std::string_view> components = linux::words(path, '/');
  if (components.empty()) {
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(here));
    entry = {std::move(here), ".", info};
    return Sight::kFound;
  }
  for (std::size_t i = 0;; ++i) {
    std::string name(components[i]);
    OCIRUN_TRY_ASSIGN(const auto info, look(here, name));
    if (!info) return opaque ? Sight::kHidden : Sight::kAbsent;
    if (is_whiteout(*info)) return Sight::kHidden;
    if (i + 1 == components.size()) {
      entry = {std::move(here), std::move(name), *info};
      return Sight::kFound;
    }
    if (!S_ISDIR(info->st_mode)) return Sight::kHidden;
    OCIRUN_TRY_ASSIGN(UniqueFd next, sys::openat(here, name.c_str(), kDirectory));
    here = std::move(next);
    OCIRUN_TRY_ASSIGN(const bool next_is_opaque, is_opaque(here, mark));
    opaque = opaque || next_is_opaque;
  }
}

Result<std::optional<LowerEntry>> find_below(const LowerLayers& layers, std::string_view path,
                                             OpaqueMark mark) {
  for (const std::string& name : layers.names) {
    OCIRUN_TRY_ASSIGN(const UniqueFd layer,
                      sys::openat(layers.directory, name.c_str(), kDirectory));
    LowerEntry entry;
    OCIRUN_TRY_ASSIGN(const Sight sight, look_in_layer(layer, path, mark, entry));
    if (sight == Sight::kFound) return std::optional(std::move(entry));
    if (sight == Sight::kHidden) break;
  }
  return std::optional<LowerEntry>();
}

}  // namespace ocirun::pods
