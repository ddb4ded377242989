#include "pods/images/store.hpp"
#include "linux/files/directories.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/owner_name.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/images/store_locks.hpp"
#include "pods/images/unpack_process.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kLayers = "layers";
constexpr std::string_view kTemporary = "tmp-";
constexpr std::string_view kUserForm = ".user", kDevicelessForm = ".nodev";
constexpr std::size_t kMostLayers = 500;  // overlayfs: OVL_MAX_STACK

std::string layer_name(const Digest& chain_id, const AddOptions& options) {
  return fmt::format("{}-{}{}{}", chain_id.algorithm_name(), chain_id.hex(),
                     options.mark == OpaqueMark::kUser ? kUserForm : "",
                     options.devices == DeviceNodes::kLeaveOut ? kDevicelessForm : "");
}

std::string temporary_name(std::string_view layer) {
  return fmt::format("{}{}", kTemporary, layer);
}

/// The chain id of a directory in layers/; nothing for a temporary directory.
std::optional<Digest> chain_id_of(std::string_view name) {
  if (name.ends_with(kDevicelessForm)) name.remove_suffix(kDevicelessForm.size());
  if (name.ends_with(kUserForm)) name.remove_suffix(kUserForm.size());
  std::string text(name);
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) text[dash] = ':';
  auto digest = Digest::parse(text);
  if (!digest) return std::nullopt;
  return *std::move(digest);
}

Result<std::vector<std::string>> names_in(Fd directory) {
  std::vector<std::string> names;
  OCIRUN_TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
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

/// Layers may hold set-user-id programs and devices, and are not verified again. Therefore other
/// users must not be able to enter or replace their directory.
Result<void> check_private(Fd store, Fd layers) {
  OCIRUN_TRY_ASSIGN(const struct stat outer, sys::fstat(store));
  OCIRUN_TRY_ASSIGN(const struct stat inner, sys::fstat(layers));
  if (outer.st_uid != ::geteuid() || inner.st_uid != ::geteuid())
    return refuse("it belongs to {}: a store must belong to the user who uses it",
                  linux::owner_name(outer.st_uid != ::geteuid() ? outer.st_uid : inner.st_uid));
  if ((outer.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("its mode {:04o} lets others write: chmod go-w", outer.st_mode & 07777);
  if ((inner.st_mode & (S_IRWXG | S_IRWXO)) != 0) OCIRUN_TRY(sys::fchmod(layers, 0700));
  return {};
}

Result<void> remove_temporary(Fd layers, const std::string& name, LayerLocks& locks) {
  const auto id = chain_id_of(std::string_view(name).substr(kTemporary.size()));
  if (!id) return linux::remove_tree(layers, name.c_str());  // no process of ours gives such a name
  OCIRUN_TRY_ASSIGN(const bool is_abandoned, locks.try_take(*id));
  if (!is_abandoned) return {};
  auto removed = linux::remove_tree(layers, name.c_str());
  locks.release(*id);
  return removed;
}

/// Removes temporary directories whose layers are not locked: the processes that made them have
/// ended.
Result<void> remove_leftovers(Fd layers, LayerLocks& locks) {
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, names_in(layers));
  for (const std::string& name : names)
    if (name.starts_with(kTemporary)) OCIRUN_TRY(remove_temporary(layers, name, locks));
  return {};
}

/// The layers of one image, while they are added.
class Addition {
 public:
  Addition(Fd layers, LayerLocks& locks, const ImageSource& source, const Image& image,
           const AddOptions& options)
      : layers_(layers), locks_(locks), source_(source), image_(image), options_(options) {}

  /// Unpacks the layers that are missing, and then gives all of them their names.
  Result<void> run(std::span<const Digest> chain) {
    for (const Digest& id : chain) {
      std::string name = layer_name(id, options_);
      // Every process locks the layers of a chain from the base on, so that no two processes wait
      // for each other. It holds the locks until the layers have their names.
      OCIRUN_TRY(locks_.take(id));
      OCIRUN_TRY_ASSIGN(const bool is_there, exists(layers_, name));
      if (is_there) locks_.release(id);
      if (!is_there) {
        OCIRUN_TRY(unpack(temporary_name(name)));
        unpacked_.push_back(name);
        name = temporary_name(name);
      }
      names_.insert(names_.begin(), std::move(name));
    }
    if (unpacked_.empty()) return {};
    // Otherwise a crash of the machine could leave a layer under its name with empty files.
    OCIRUN_TRY(sys::syncfs(layers_));
    for (const std::string& name : unpacked_)
      OCIRUN_TRY(sys::renameat2(layers_, temporary_name(name).c_str(), layers_, name.c_str(),
                                RENAME_NOREPLACE));
    return {};
  }

  std::uint64_t devices_left_out() const { return before_.devices_left_out; }

  /// Removes what run() has unpacked and given no name.
  Result<void> undo() {
    for (const std::string& name : unpacked_)
      OCIRUN_TRY(linux::remove_tree(layers_, temporary_name(name).c_str()));
    return linux::remove_tree(layers_, current_.c_str());
  }

 private:
  Result<void> unpack(std::string temporary) {
    const std::size_t index = names_.size();
    const LayerBlob& layer = image_.layers[index];
    UnpackOptions unpacking{options_.limits,       options_.mark, options_.devices, {},
                            options_.image_limits, before_};
    if (options_.progress)
      unpacking.progress = [&](std::uint64_t read) {
        options_.progress({index, image_.layers.size(), read, layer.digest ? layer.size : 0});
      };
    current_ = std::move(temporary);
    OCIRUN_TRY(linux::remove_tree(
        layers_, current_.c_str()));  // should its owner have been killed meanwhile
    OCIRUN_TRY(sys::mkdirat(layers_, current_.c_str(), 0700));
    OCIRUN_TRY_ASSIGN(const UniqueFd into,
                      sys::openat(layers_, current_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const FileRange blob, source_.open_layer(layer));
    const Fd locks[] = {locks_.fd()};
    OCIRUN_TRY_ASSIGN(const UnpackedLayer unpacked,
                      unpack_layer_apart(blob, layer, into, {layers_, names_}, unpacking, locks));
    before_.entries += unpacked.entries;
    before_.bytes += unpacked.bytes;
    before_.devices_left_out += unpacked.devices_left_out;
    return {};
  }

  Fd layers_;
  LayerLocks& locks_;
  const ImageSource& source_;
  const Image& image_;
  const AddOptions& options_;
  std::vector<std::string> names_;     // of the layers' directories so far, the top first
  std::vector<std::string> unpacked_;  // the later names of those that run() has unpacked
  std::string current_;                // the temporary name of the one that is being unpacked
  UnpackedLayer before_;
};

}  // namespace

Result<Store> Store::open(const HostPath& given) {
  OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(given.string()));
  auto opened = [&]() -> Result<Store> {
    OCIRUN_TRY_ASSIGN(UniqueFd directory, linux::open_or_make_directory(path));
    OCIRUN_TRY_ASSIGN(UniqueFd layers, linux::open_or_make_directory(directory, kLayers, 0700));
    OCIRUN_TRY(check_private(directory, layers));
    return Store(path, std::move(directory), std::move(layers));
  }();
  return within(std::move(opened), "image store {}", path.string());
}

Result<UniqueFd> Store::lock() const { return lock_store_shared(directory_); }

Result<StoredImage> Store::add(const ImageSource& source, const ManifestChoice& choice,
                               const AddOptions& options) const {
  OCIRUN_TRY_ASSIGN(Image image, source.find(choice));
  const std::vector<Digest> chain = chain_ids(image.config.diff_ids);
  std::uint64_t devices_left_out = 0;
  if (chain.size() > kMostLayers)
    return refuse("the image has {} layers, and an overlay has {} at most", chain.size(),
                  kMostLayers);
  OCIRUN_TRY_ASSIGN(const UniqueFd store_lock, lock());
  {
    OCIRUN_TRY_ASSIGN(LayerLocks locks, LayerLocks::open(directory_));
    OCIRUN_TRY(remove_leftovers(layers_, locks));
    Addition addition(layers_, locks, source, image, options);
    if (auto added = addition.run(chain); !added) {
      const auto undone = addition.undo();
      if (undone) return std::unexpected(std::move(added).error());
      return refuse("{}; a part remains in the store: {}", added.error().message(),
                    undone.error().message());
    }
    devices_left_out = addition.devices_left_out();
  }
  StoredImage stored{image.digest, image.config_id, std::move(image.config), {}, devices_left_out};
  for (const Digest& id : chain) {
    StoredLayer layer{id, fmt::format("{}/{}", kLayers, layer_name(id, options))};
    OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_layer(layer));
    OCIRUN_TRY_ASSIGN(const bool hides, is_opaque(directory, options.mark));
    if (hides) stored.layers.clear();
    stored.layers.push_back(std::move(layer));
  }
  return stored;
}

Result<std::vector<Digest>> Store::list() const {
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, names_in(layers_));
  std::vector<Digest> ids;
  for (const std::string& name : names)
    if (auto id = chain_id_of(name); id && (ids.empty() || ids.back() != *id))
      ids.push_back(*std::move(id));
  return ids;
}

Result<std::size_t> Store::prune(std::span<const Digest> keep,
                                 std::chrono::milliseconds patience) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd store_lock, lock_store_alone(directory_, patience));
  OCIRUN_TRY_ASSIGN(LayerLocks locks, LayerLocks::open(directory_));
  OCIRUN_TRY(remove_leftovers(layers_, locks));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, names_in(layers_));
  std::size_t count = 0;
  for (const std::string& name : names) {
    const auto id = chain_id_of(name);
    if (!id || std::ranges::find(keep, *id) != keep.end()) continue;
    // If this process is killed, no half of a layer may remain under the name of the layer.
    const std::string temporary = temporary_name(name);
    OCIRUN_TRY(sys::renameat2(layers_, name.c_str(), layers_, temporary.c_str(), RENAME_NOREPLACE));
    OCIRUN_TRY(linux::remove_tree(layers_, temporary.c_str()));
    ++count;
  }
  return count;
}

Result<UniqueFd> Store::open_layer(const StoredLayer& layer) const {
  const std::string_view directory = layer.directory;
  const std::size_t slash = directory.find('/');
  const std::string name(directory.substr(slash + 1));
  if (directory.substr(0, slash) != kLayers || chain_id_of(name) != layer.chain_id)
    return refuse("{} is no directory of the layer {} in an image store",
                  bundle::in_quotes(layer.directory), layer.chain_id.text());
  return sys::openat(layers_, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace ocirun::pods
