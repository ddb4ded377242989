#pragma once

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "linux/files/safe_dir.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/tar_reader.hpp"

namespace ocirun::pods {

/// The directory that a layer is unpacked into, as a lower layer of an overlay.
class LayerTree {
 public:
  static Result<LayerTree> open(Fd root, std::span<const Fd> below, const UnpackOptions& options);

  /// Adds an entry, or replaces the one of the same name. Reads a file's content from `archive`.
  Result<void> add(const TarEntry& entry, TarReader& archive);
  /// Sets the times of all directories, which each entry in them has changed.
  Result<void> finish();

  std::uint64_t devices_left_out() const { return devices_left_out_; }

 private:
  LayerTree(linux::SafeDir root, std::span<const Fd> below, const UnpackOptions& options)
      : root_(std::move(root)), below_(below), options_(options) {}

  Result<Fd> parent(const std::string& path);
  Result<void> make_missing(const std::string& path);
  Result<void> make_implied(Fd parent, const std::string& name, const std::string& path);
  Result<void> make_opaque(Fd directory) const;
  Result<void> inherit(Fd directory, const std::string& path);

  Result<void> add_root(const TarEntry& entry);
  Result<void> add_directory(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_file(const TarEntry& entry, const EntryName& name, Fd parent,
                        TarReader& archive);
  Result<void> add_symlink(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_hard_link(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_node(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_whiteout(const TarEntry& entry, const EntryName& name, Fd parent);

  /// Removes what has the name now.
  Result<void> clear(Fd parent, const std::string& name);
  /// Owner, mode, attributes and, when it ends, times of a directory.
  Result<void> describe_directory(Fd directory, const std::string& path, const TarEntry& entry);
  Result<void> remember(Fd directory, const std::string& path, const timespec& accessed,
                        const timespec& modified);

  struct Times {
    std::string path;
    timespec accessed, modified;
  };

  linux::SafeDir root_;
  std::span<const Fd> below_;
  const UnpackOptions& options_;
  std::uint64_t devices_left_out_ = 0;
  // The parent of the entry before. Archives list the entries of a directory one after another.
  UniqueFd parent_;
  std::string parent_path_;
  bool parent_is_stale_ = false;
  std::unordered_map<ino_t, Times> times_;  // of the directories, by inode
};

}  // namespace ocirun::pods
