#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/rootfs.hpp"
#include "tests/child_test.hpp"

namespace ocirun::test {

/// What a container's init has after attach_rootfs: a rootfs on a tmpfs that goes away with the
/// child's mount namespace, a "host" directory beside it, and a trusted procfs.
class Scene {
 public:
  explicit Scene(linux::Propagation propagation = linux::Propagation::kUnchanged) {
    ::umask(0);
    must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
    for (const char* directory : {"/tmp/rootfs/proc", "/tmp/rootfs/sys", "/tmp/rootfs/dev",
                                  "/tmp/rootfs/data", "/tmp/rootfs/etc", "/tmp/host/below"})
      std::filesystem::create_directories(directory);
    write("/tmp/host/file", "host");
    write("/tmp/rootfs/etc/hosts", "image");
    procfs.emplace(must(linux::Procfs::open(linux::Procfs::Subset::kProcesses)));
    must(linux::isolate_mount_tree(propagation));
  }

  /// Everything that an image brings is made before this.
  linux::SafeDir& attach() {
    root.emplace(must(linux::attach_rootfs(HostPath("/tmp/rootfs"), UniqueFd(), *procfs,
                                           linux::Propagation::kUnchanged)));
    return *root;
  }

  linux::MountContext context() {
    if (!root) attach();
    return {.root = *root, .procfs = *procfs, .mount_label = {}, .cgroups = {}};
  }

  Result<std::optional<linux::UnfinishedMount>> try_mount(const linux::Mount& mount) {
    return linux::make_mount(context(), mount, UniqueFd());
  }
  void mount(const linux::Mount& wanted) { must(try_mount(wanted)); }

  static void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::optional<linux::Procfs> procfs;
  std::optional<linux::SafeDir> root;
};

/// A mount as config.json says it: destination, type, source and comma-separated options.
inline linux::Mount mount_of(std::string destination, std::string type, std::string source,
                             const std::string& options) {
  linux::Mount mount;
  mount.destination = RootfsPath(std::move(destination));
  mount.type = std::move(type);
  mount.source = std::move(source);
  std::istringstream stream(options);
  for (std::string option; std::getline(stream, option, ',');)
    linux::apply_mount_option(mount, option);
  return mount;
}
inline linux::Mount bind_of(std::string destination, std::string source,
                            const std::string& options) {
  return mount_of(std::move(destination), "", std::move(source), options);
}

/// One line of /proc/self/mountinfo.
struct MountLine {
  std::string root, path, options, propagation, type, source, superblock;
  bool has(std::string_view option) const {
    return ("," + options + ",").find("," + std::string(option) + ",") != std::string::npos;
  }
};

inline std::vector<MountLine> mount_table() {
  std::ifstream file("/proc/self/mountinfo");
  std::vector<MountLine> table;
  for (std::string text; std::getline(file, text);) {
    std::istringstream stream(text);
    MountLine line;
    std::string word;
    stream >> word >> word >> word >> line.root >> line.path >> line.options;
    for (stream >> word; word != "-"; stream >> word) line.propagation += word + " ";
    stream >> line.type >> line.source >> line.superblock;
    table.push_back(line);
  }
  return table;
}

/// The mount that is seen at `path`: the last one there.
inline MountLine mount_at(const std::string& path) {
  std::optional<MountLine> found;
  for (const MountLine& line : mount_table())
    if (line.path == path) found = line;
  if (!found) throw std::runtime_error("nothing is mounted at " + path);
  return *found;
}

inline bool is_mounted(const std::string& path) {
  for (const MountLine& line : mount_table())
    if (line.path == path) return true;
  return false;
}

/// Checks that an error's message holds `part`.
inline void check_text(const std::string& message, std::string_view part) {
  BOOST_TEST(message.find(part) != std::string::npos,
             "\"" << message << "\" lacks \"" << part << "\"");
}

/// A user namespace with ids from 100000 on, as a descriptor.
UniqueFd shifted_user_namespace();

/// From here on the kernel answers `error` to `calls`. ENOSYS: like a kernel that is too old for
/// them.
void refuse_system_calls(const std::vector<long>& calls, int error = ENOSYS);

}  // namespace ocirun::test
