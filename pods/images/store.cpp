#include "pods/images/store.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/absolute_path.hpp"
#include "linux/base/directory_entries.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/images/remove_tree.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kLayers = "layers";
constexpr const char* kLock = "lock";
constexpr std::string_view kTemporary = "tmp-";
constexpr std::size_t kMostLayers = 500;  // overlayfs: OVL_MAX_STACK

std::string layer_name(const Digest& chain_id) {
  return fmt::format("{}-{}", chain_id.algorithm_name(), chain_id.hex());
}

/// The chain id of a directory in layers/; nothing for a temporary one.
std::optional<Digest> chain_id_of(std::string_view name) {
  std::string text(name);
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) text[dash] = ':';
  auto digest = Digest::parse(text);
  if (!digest) return std::nullopt;
  return *std::move(digest);
}

Result<std::vector<std::string>> names_in(Fd directory) {
  std::vector<std::string> names;
  TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    names.emplace_back(name);
    return {};
  }));
  std::ranges::sort(names);
  return names;
}

Result<bool> exists(Fd directory, const std::string& name) {
  const auto info = sys::fstatat(directory, name.c_str());
  if (info) return true;
  if (info.error().number() == ENOENT) return false;
  return std::unexpected(info.error());
}

/// Makes the directory `path` and what is missing above it.
Result<UniqueFd> open_or_make(const HostPath& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY;
  auto found = sys::open(path.c_str(), kFlags);
  if (found || found.error().number() != ENOENT) return found;
  // Symlinks in the operator's own path are followed as the kernel would, from "/".
  TRY_ASSIGN(UniqueFd top, sys::open("/", O_PATH | O_DIRECTORY));
  const linux::SafeDir tree(std::move(top));
  TRY_ASSIGN(const UniqueFd made, tree.make_directories(RootfsPath(path.string()), 0700));
  return sys::openat(made, ".", kFlags);
}

/// Layers hold set-user-id programs and devices of images, and are not verified again: nobody else
/// may enter their directory, nor put another one in its place.
Result<void> check_private(Fd store, Fd layers) {
  TRY_ASSIGN(const struct stat outer, sys::fstat(store));
  TRY_ASSIGN(const struct stat inner, sys::fstat(layers));
  if (outer.st_uid != ::geteuid() || inner.st_uid != ::geteuid())
    return refuse("it belongs to user {}: a store must belong to the user who uses it",
                  outer.st_uid != ::geteuid() ? outer.st_uid : inner.st_uid);
  if ((outer.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("its mode {:04o} lets others write: chmod go-w", outer.st_mode & 07777);
  if ((inner.st_mode & (S_IRWXG | S_IRWXO)) != 0) TRY(sys::fchmod(layers, 0700));
  return {};
}

}  // namespace

Result<Store> Store::open(const HostPath& given) {
  TRY_ASSIGN(const HostPath path, linux::absolute_path(given.string()));
  auto opened = [&]() -> Result<Store> {
    TRY_ASSIGN(UniqueFd directory, open_or_make(path));
    if (auto made = sys::mkdirat(directory, kLayers, 0700);
        !made && made.error().number() != EEXIST)
      return std::unexpected(std::move(made).error());
    TRY_ASSIGN(UniqueFd layers,
               sys::openat(directory, kLayers, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    TRY(check_private(directory, layers));
    return Store(std::move(directory), std::move(layers));
  }();
  return within(std::move(opened), fmt::format("image store {}", path.string()));
}

Result<UniqueFd> Store::lock() const {
  TRY_ASSIGN(UniqueFd file,
             sys::openat(directory_, kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600));
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail(errno, "lock the image store");
  return file;
}

/// Temporary directories exist only while their writer holds the lock, which is ours now.
Result<void> Store::remove_leftovers() const {
  TRY_ASSIGN(const std::vector<std::string> names, names_in(layers_));
  for (const std::string& name : names)
    if (name.starts_with(kTemporary)) TRY(remove_tree(layers_, name.c_str()));
  return {};
}

Result<StoredImage> Store::add(const ImageSource& source, const ManifestChoice& choice,
                               const AddOptions& options) const {
  TRY_ASSIGN(Image image, source.find(choice));
  const std::vector<Digest> chain = chain_ids(image.config.diff_ids);
  if (chain.size() > kMostLayers)
    return refuse("the image has {} layers, and an overlay has {} at most", chain.size(),
                  kMostLayers);
  StoredImage stored{image.digest, image.config_id, image.config, {}};
  TRY_ASSIGN(const UniqueFd held, lock());
  TRY(remove_leftovers());
  for (std::size_t i = 0; i < chain.size(); ++i) {
    TRY_ASSIGN(const bool is_there, exists(layers_, layer_name(chain[i])));
    if (!is_there) TRY(unpack(source, image, i, chain, options));
    StoredLayer layer{chain[i], fmt::format("{}/{}", kLayers, layer_name(chain[i]))};
    TRY_ASSIGN(const UniqueFd directory, open_layer(layer));
    const auto mark = sys::getxattr(directory, attribute_name(options.mark));
    if (!mark && mark.error().number() != ENODATA && mark.error().number() != EOPNOTSUPP)
      return std::unexpected(mark.error());
    if (mark && *mark == "y") stored.layers.clear();
    stored.layers.push_back(std::move(layer));
  }
  return stored;
}

Result<void> Store::unpack(const ImageSource& source, const Image& image, std::size_t index,
                           std::span<const Digest> chain, const AddOptions& options) const {
  const LayerBlob& layer = image.layers[index];
  std::vector<UniqueFd> opened;
  std::vector<Fd> below;  // the nearest first
  for (std::size_t i = index; i-- > 0;) {
    TRY_ASSIGN(UniqueFd directory, sys::openat(layers_, layer_name(chain[i]).c_str(),
                                               O_PATH | O_DIRECTORY | O_NOFOLLOW));
    below.push_back(directory);
    opened.push_back(std::move(directory));
  }
  UnpackOptions unpacking{options.limits, options.mark, options.devices, {}};
  if (options.progress)
    unpacking.progress = [&](std::uint64_t read) {
      options.progress({index, image.layers.size(), read, layer.digest ? layer.size : 0});
    };
  const std::string temporary = fmt::format("{}{}", kTemporary, ::getpid());
  TRY(sys::mkdirat(layers_, temporary.c_str(), 0700));
  const auto unpacked = [&]() -> Result<void> {
    TRY_ASSIGN(const UniqueFd into,
               sys::openat(layers_, temporary.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    TRY_ASSIGN(const auto stream, source.open_layer(layer));
    TRY(unpack_layer(*stream, layer, into, below, unpacking));
    return sys::renameat2(layers_, temporary.c_str(), layers_, layer_name(chain[index]).c_str(),
                          RENAME_NOREPLACE);
  }();
  if (unpacked) return unpacked;
  if (auto removed = remove_tree(layers_, temporary.c_str()); !removed)
    return refuse("{}; {} remains: {}", unpacked.error().message(), temporary,
                  removed.error().message());
  return unpacked;
}

Result<std::vector<Digest>> Store::list() const {
  TRY_ASSIGN(const std::vector<std::string> names, names_in(layers_));
  std::vector<Digest> ids;
  for (const std::string& name : names)
    if (auto id = chain_id_of(name)) ids.push_back(*std::move(id));
  return ids;
}

Result<std::size_t> Store::prune(std::span<const Digest> keep) const {
  TRY_ASSIGN(const UniqueFd held, lock());
  TRY(remove_leftovers());
  TRY_ASSIGN(const std::vector<Digest> all, list());
  std::size_t count = 0;
  for (const Digest& id : all) {
    if (std::ranges::find(keep, id) != keep.end()) continue;
    // Half a layer must not be found under its own name, should this process be killed.
    const std::string temporary = fmt::format("{}{}", kTemporary, ::getpid());
    TRY(sys::renameat2(layers_, layer_name(id).c_str(), layers_, temporary.c_str(),
                       RENAME_NOREPLACE));
    TRY(remove_tree(layers_, temporary.c_str()));
    ++count;
  }
  return count;
}

Result<UniqueFd> Store::open_layer(const StoredLayer& layer) const {
  return sys::openat(layers_, layer_name(layer.chain_id).c_str(),
                     O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace ocirun::pods
