#pragma once

#include <ctime>
#include <string>
#include <unordered_map>

#include "linux/files/safe_dir.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/unpack/lower_layers.hpp"
#include "pods/images/unpack/tar_reader.hpp"

namespace ocirun::pods {

/// The directory that a layer is unpacked into, as a lower layer of an overlay.
class LayerTree {
 public:
  static Result<LayerTree> open(Fd root, const LowerLayers& below, const UnpackOptions& options);

  /// Adds an entry, or replaces the one of the same name. Reads a file's content from `archive`.
  Result<void> add(const TarEntry& entry, TarReader& archive);
  /// Called after the last add(): sets what directories could not get before. An archive may hold
  /// "a/b" and no entry for "a". Then "a" gets the attributes of "a" in the layers below (owner,
  /// mode, times, ACLs), unless a whiteout of this archive hides that one. The whiteout may be the
  /// last entry; so only finish() can set them. The times of each directory are set here, because a
  /// new entry in it changes them, and its default ACL, because it changes the modes of new
  /// entries.
  Result<void> finish();

  const UnpackedLayer& sums() const { return sums_; }

 private:
  /// The facts about a directory of this layer that finish() needs.
  struct Directory {
    timespec accessed{}, modified{};
    std::string default_acl;
    bool is_described = false;  // the archive lists it
    bool is_opaque = false;
    bool hides_its_name = false;  // no directory of this name below shows through, or gives its
                                  // attributes
  };

  LayerTree(linux::SafeDir root, const LowerLayers& below, const UnpackOptions& options)
      : root_(std::move(root)), below_(below), options_(options) {}

  Result<void> count_entry();
  Result<void> count_bytes(std::uint64_t bytes);

  // layer_tree.cpp: directories.
  Result<Fd> parent(const std::string& path);
  Result<void> make_missing(const std::string& path, int links);
  Result<bool> is_below_own_file(const std::string& path) const;
  Result<UniqueFd> make_directory(Fd parent, const std::string& name);
  Result<Directory*> remembered(Fd directory);
  Result<void> make_opaque(Fd directory);
  Result<void> hide_name(Fd directory);
  Result<void> add_root(const TarEntry& entry);
  Result<void> add_directory(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> describe(Fd directory, const TarEntry& entry);
  Result<bool> inherit(Fd directory, std::string_view path, Directory& remembered);
  Result<bool> complete(Fd directory, std::string_view path, bool is_shown);

  // layer_entries.cpp: everything else.
  Result<void> clear(Fd parent, const std::string& name);
  Result<UniqueFd> make_file(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_file(const TarEntry& entry, const EntryName& name, Fd parent,
                        TarReader& archive);
  Result<void> add_symlink(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_hard_link(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_node(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> add_whiteout(const TarEntry& entry, const EntryName& name, Fd parent);
  Result<void> leave_out_device(const EntryName& name, Fd parent);
  Result<void> bring_up_target(const TarEntry& entry);
  Result<void> bring_up(const LowerEntry& lower, const EntryName& name, Fd parent);

  linux::SafeDir root_;
  const LowerLayers& below_;
  const UnpackOptions& options_;
  UnpackedLayer sums_;
  // The parent of the previous entry. Archives list the entries of a directory one after another.
  UniqueFd parent_;
  std::string parent_path_;
  bool parent_is_stale_ = false;
  std::unordered_map<ino_t, Directory> directories_;  // of this layer, by inode
};

}  // namespace ocirun::pods
