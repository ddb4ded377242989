#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "criu/dump/directory.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

// What ocirun reads of CRIU's images, as one value. Texts are what the container or a forger wrote.
// Words of CRIU: a pre-dump saves memory before the checkpoint, while the processes run; a ghost is
// a deleted file whose content is in an image; a remap makes a deleted file again, or names it.

/// A process. The numbers are those of the container's pid namespace.
struct ImageProcess {
  int pid = 0;
  std::vector<int> threads{};  // of a process that lives; the first one has the number `pid`
};

struct ImageMount {
  std::uint32_t id = 0, parent = 0;  // of the mount, and of the mount that it is on
  std::uint32_t device = 0;
  std::uint32_t flags = 0, superblock_flags = 0;  // MS_*
  std::string point;                              // begins with "/"
  std::string root;                               // the path in the file system that is mounted
  std::string type;        // "" for one that CRIU cannot make; "type N" for one not known to ocirun
  std::string source{};    // of the file system
  std::string options{};   // of the file system, with commas
  std::string external{};  // the name of a mount of the host; "" for others
  bool is_deleted = false;          // its source had been deleted before the checkpoint
  bool is_containers_root = false;  // only in Images::mounts
};

/// A regular file or directory that a process has open.
struct ImageRegularFile {
  std::string name;
  std::uint32_t flags = 0;  // of open(2)
  std::int64_t mount = -1;
};
/// An open file: fields of the message that CRIU writes for its type.
struct ImageFile {
  std::uint32_t id = 0, type = 0;
  bool has_other_message = false;  // one that is not for its type, or the type is not known
  std::optional<ImageRegularFile> regular{};
  std::vector<std::string> paths{};  // of a unix socket, of watches of inotify and fanotify
  bool has_watch_without_path = false;
  std::uint32_t signal_receiver = 0;  // F_SETOWN of fcntl(2); 0 for none
};
/// A file that had been deleted. CRIU makes it again, or gives it back its name.
struct ImageDeletedFile {
  std::uint32_t file = 0;                     // the number of the open file
  std::optional<std::uint32_t> link{};        // the number of the file that is a link to it
  std::string image{};                        // the name of the image with the content
  std::optional<std::uint32_t> ghost_mode{};  // the mode, if there is such an image
};
struct ImageFiles {
  std::vector<ImageFile> open{};
  std::vector<ImageDeletedFile> deleted{};
  bool has_descriptors_in_sockets = false;  // on their way through a unix socket
};

/// Mode and owner of a cgroup or of a file in it.
struct ImageRights {
  std::uint64_t mode = 0, uid = 0, gid = 0;
};
struct ImageCgroupFile {
  std::string name;
  std::vector<ImageRights> rights{};
};
struct ImageCgroup {
  std::string path;  // of a cgroup at the top of a hierarchy; else the name below its parent
  std::vector<ImageRights> rights{};
  std::vector<ImageCgroupFile> files{};
  std::vector<ImageCgroup> children{};
};
struct ImageHierarchy {
  std::vector<std::string> controllers{};  // "" alone: cgroup v2
  std::vector<ImageCgroup> tops{};
};
/// The cgroup of a process in one hierarchy.
struct ImageMember {
  std::string controllers;  // with commas
  std::string path;
  std::uint64_t prefix = 0;  // the length of the part that the cgroup namespace hides; 0 for none
};
struct ImageCgroups {
  std::vector<ImageHierarchy> hierarchies{};
  std::vector<ImageMember> members{};
};

struct Images {
  std::string machine;  // as uname(2) calls it; "" if unknown
  std::vector<ImageProcess> processes;
  std::vector<ImageMount> mounts;        // of the first process
  std::optional<linux::IdMap> id_map{};  // of its user namespace; nothing without one
  // The namespaces that were no namespaces of criu at the checkpoint.
  std::vector<linux::NamespaceKind> own_namespaces;
  bool has_cpu_features = false;     // an image that criu compares with the processor
  bool has_network_devices = false;  // an image of a network namespace with its devices
  // Not read of images that are trusted:
  std::vector<ImageMount> other_mounts;  // of other mount namespaces
  ImageFiles files;
  std::vector<ImageCgroups> cgroups;  // one for each entry of cgroup.img
  bool has_apparmor_policies = false;
};

/// Whether CRIU makes the cgroups of the images.
enum class SavedCgroups { kMade, kIgnored };

/// Reads the directory `images`, without the cgroups if CRIU ignores them. Errors: an image is
/// missing or damaged; the images are those of a pre-dump; more than 100 cgroups are nested.
Result<Images> read_images(Fd images, TrustImages trust, SavedCgroups cgroups);

/// The mounts of all mount namespaces.
std::vector<ImageMount> all_mounts(const Images& images);

}  // namespace ocirun::runtime
