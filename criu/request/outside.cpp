#include "criu/request/outside.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "bundle/config/landlock.hpp"
#include "criu/compare/container_namespaces.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;
using linux::NamespaceKind;

constexpr std::string_view kTerminal = "terminal";

Result<UniqueFd> open_in_proc(const linux::Procfs& procfs, int pid, std::string_view name) {
  return linux::sys::openat(procfs.fd(), fmt::format("{}/{}", pid, name).c_str(),
                            O_PATH | O_DIRECTORY);
}

bool has_mount(std::string_view mountinfo, std::uint64_t id) {
  while (const auto mount = linux::next_mount(mountinfo))
    if (mount->id == id) return true;
  return false;
}

// The major numbers are those of admin-guide/devices.txt in Linux: 4 for consoles and serial lines,
// 136 to 143 for pseudo-terminals.
bool is_terminal(const struct stat& status) {
  const unsigned number = major(status.st_rdev);
  return S_ISCHR(status.st_mode) && (number == 4 || (number >= 136 && number <= 143));
}

// Resolves the symlinks in `path`, the source of a bind, because CRIU does not follow a symlink at
// the end of a source. A path that cannot be opened is returned unchanged, so that CRIU's error
// names the path.
std::string without_links(const std::string& path) {
  const auto file = linux::sys::open(path.c_str(), O_PATH);
  return file ? linux::host_path_of(*file).value_or(path) : path;
}

}  // namespace

std::vector<std::string> why_not_checkpointed(const bundle::Config& config) {
  std::vector<std::string> reasons;
  if (!config.namespaces.creates(NamespaceKind::kMount))
    reasons.emplace_back(
        "/linux/namespaces: a container without a mount namespace made for it cannot be "
        "checkpointed or restored: add {\"type\": \"mount\"}");
  if (config.namespaces.creates(NamespaceKind::kUser) &&
      (!config.id_map.host_uid(Uid{}) || !config.id_map.host_gid(Gid{})))
    reasons.emplace_back(
        "/linux/uidMappings: a user namespace without user 0 and group 0 cannot be checkpointed or "
        "restored: criu restores processes as root of the namespace");
  for (const NamespaceKind kind : {NamespaceKind::kUser, NamespaceKind::kCgroup})
    if (config.namespaces.joins(kind))
      reasons.push_back(fmt::format(
          "/linux/namespaces: the {} namespace is joined by a path: criu can only save one that "
          "was made for the container: remove the path",
          linux::config_name(kind)));
  if (config.namespaces.creates(NamespaceKind::kUser))
    for (const NamespaceKind kind :
         {NamespaceKind::kNetwork, NamespaceKind::kIpc, NamespaceKind::kUts, NamespaceKind::kTime})
      if (config.namespaces.joins(kind))
        reasons.push_back(fmt::format(
            "/linux/namespaces: the {} namespace is joined by a path, and the container has a new "
            "user namespace: criu cannot restore both: let it have a new {} namespace",
            linux::config_name(kind), linux::config_name(kind)));
  if (config.seccomp && !config.seccomp->listener_path.empty())
    reasons.emplace_back(
        "/linux/seccomp/listenerPath: a container whose system calls an agent answers cannot be "
        "checkpointed or restored: criu does not save the connection to the agent");
  if (const auto landlock = bundle::landlock_rules(config.annotations); landlock && *landlock)
    reasons.emplace_back(
        "/annotations/org.ocirun.landlock: a container that Landlock restricts cannot be "
        "checkpointed or restored: criu does not save the rules");
  if (bundle::wants_core_scheduling(config.annotations))
    reasons.push_back(
        fmt::format("/annotations/{}: a container with core scheduling cannot be checkpointed or "
                    "restored: criu does not save the cookie",
                    bundle::kCoreScheduling));
  return reasons;
}

Result<void> check_can_be_checkpointed(const bundle::Config& config) {
  const std::vector<std::string> reasons = why_not_checkpointed(config);
  return reasons.empty() ? Result<void>{} : refuse("{}", reasons.front());
}

Result<void> enter_for_criu(const std::vector<linux::PinnedNamespace>& pinned) {
  for (const linux::PinnedNamespace& entry : pinned)
    if (works_inside(entry.kind) &&
        ::setns(entry.fd.get(), static_cast<int>(linux::clone_flag(entry.kind))) != 0)
      return fail(errno, "enter the {} namespace for criu", linux::config_name(entry.kind));
  return {};
}

Result<std::vector<linux::PinnedNamespace>> pin_joined_of(const bundle::Config& config,
                                                          const linux::Procfs& procfs, int init) {
  std::vector<linux::PinnedNamespace> pinned;
  for (const linux::Namespace& entry : config.namespaces.entries()) {
    if (!entry.path || !works_inside(entry.kind)) continue;
    OCIRUN_TRY_ASSIGN(UniqueFd file, linux::open_namespace(procfs.fd(), init, entry.kind));
    pinned.push_back({.kind = entry.kind, .fd = std::move(file)});
  }
  return pinned;
}

std::string namespace_key(NamespaceKind kind) {
  return kind == NamespaceKind::kNetwork ? "extRootNetNS" : "extRootPidNS";
}

Result<std::vector<std::string>> words_of_namespaces_for_dump(const bundle::Config& config,
                                                              const linux::Procfs& procfs,
                                                              int init) {
  std::vector<std::string> words;
  for (const NamespaceKind kind : {NamespaceKind::kNetwork, NamespaceKind::kPid}) {
    if (!config.namespaces.joins(kind)) continue;
    OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_in_proc(procfs, init, "ns"));
    const std::string name(linux::proc_name(kind));
    OCIRUN_TRY_ASSIGN(const std::string link, linux::sys::readlinkat(directory, name.c_str()));
    // `link` is "net:[4026531840]".
    words.push_back(
        fmt::format("external={}{}:{}", name, link.substr(link.find('[')), namespace_key(kind)));
  }
  return words;
}

Result<bundle::StandardStreams> read_standard_streams(const linux::Procfs& procfs, int init) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_in_proc(procfs, init, "fd"));
  OCIRUN_TRY_ASSIGN(const std::string mounts, procfs.read(fmt::format("{}/mountinfo", init)));
  bundle::StandardStreams streams;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const std::string name = fmt::format("{}", i);
    auto link = linux::sys::readlinkat(directory, name.c_str());
    if (!link && link.error().number() == ENOENT) continue;
    if (!link) return std::unexpected(link.error());
    streams[i] = std::move(*link);
    if (!streams[i].starts_with('/')) continue;
    OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::openat(directory, name.c_str(),
                                                              O_PATH));  // follows the magic link
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::mount_of(procfs, file));
    if (has_mount(mounts, mount)) continue;
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
    streams[i] = fmt::format("{}[{:x}:{:x}]", is_terminal(status) ? kTerminal : "file", mount,
                             status.st_ino);
  }
  return streams;
}

std::vector<std::string> words_of_streams_for_dump(const bundle::StandardStreams& streams) {
  std::vector<std::string> words;
  for (const std::string& stream : streams)
    if (stream.starts_with("file["))
      words.push_back("external=" + stream);
    else if (stream.starts_with(kTerminal))
      words.push_back("external=file" + stream.substr(kTerminal.size()));
  return words;
}

std::vector<std::string> words_of_streams_for_restore(const bundle::StandardStreams& streams) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < streams.size(); ++i)
    // If two streams are the same pipe or file, only the first stream gets the option "inherit".
    if ((streams[i].starts_with("pipe:") || streams[i].starts_with("file[")) &&
        std::find(streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(i), streams[i]) ==
            streams.begin() + static_cast<std::ptrdiff_t>(i))
      words.push_back(fmt::format("inherit={}\n{}", streams[i], i));
  return words;
}

Result<std::vector<std::string>> words_of_mounts_for_dump(std::span<const OutsideMount> mounts,
                                                          const linux::SafeDir& root) {
  std::vector<std::string> words;
  for (const OutsideMount& mount : mounts) {
    const auto found = root.open(RootfsPath(mount.name), O_PATH);
    if (!found) continue;  // the container does not have the destination
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*found));
    const bool is_masked = mount.kind == OutsideMount::Kind::kMask;
    if (is_masked && S_ISDIR(status.st_mode)) continue;  // CRIU saves the tmpfs that masks
    OCIRUN_TRY_ASSIGN(const std::string path, linux::host_path_of(*found));
    words.push_back(fmt::format("external-mount={}\n{}", path, mount.name));
  }
  return words;
}

std::vector<std::string> words_of_mounts_for_restore(std::span<const OutsideMount> mounts,
                                                     std::string_view prepared) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string source =
        prepared.empty() ? without_links(mounts[i].source) : fmt::format("{}/{}", prepared, i);
    words.push_back(fmt::format("external-mount={}\n{}", mounts[i].name, source));
  }
  return words;
}

Result<void> make_mount_points(const bundle::Config& config) {
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root, linux::SafeDir::open_root(config.root_path));
  std::vector<std::string> covered;
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    const std::string path = clean(mount.destination);
    const bool is_inside = std::ranges::any_of(
        covered, [&](const std::string& above) { return linux::is_at_or_below(path, above); });
    covered.push_back(path);
    if (is_inside || path == "/" || mount.remount) continue;
    bool is_directory = !mount.bind;
    if (mount.bind) {
      OCIRUN_TRY_ASSIGN(
          const UniqueFd source,
          within(linux::sys::open(mount.source.c_str(), O_PATH), "/mounts/{}", index));
      OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(source));
      is_directory = S_ISDIR(status.st_mode);
    }
    const auto made =
        is_directory ? root.make_directories(RootfsPath(path)) : root.make_file(RootfsPath(path));
    if (!made)
      return within(Result<void>(std::unexpected(made.error())),
                    "/mounts/{}: make the mount point {}", index, path);
  }
  return {};
}

}  // namespace ocirun::runtime
