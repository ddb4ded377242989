#include "pods/prepare/host_paths.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using linux::SafeDir;

// As Kubernetes' API says of DirectoryOrCreate and FileOrCreate.
constexpr mode_t kModeOfMadeDirectory = 0755;
constexpr mode_t kModeOfMadeFile = 0644;

constexpr linux::Named<mode_t> kForms[] = {
    {"directory", S_IFDIR}, {"file", S_IFREG},         {"socket", S_IFSOCK},
    {"fifo", S_IFIFO},      {"block device", S_IFBLK}, {"character device", S_IFCHR}};

/// The form of file that a type asks for; 0: any.
mode_t form_of(HostType type) {
  switch (type) {
    case HostType::kAny:
      return 0;
    case HostType::kFile:
    case HostType::kFileOrCreate:
      return S_IFREG;
    case HostType::kDirectory:
    case HostType::kDirectoryOrCreate:
      return S_IFDIR;
    case HostType::kSocket:
      return S_IFSOCK;
    case HostType::kCharDevice:
      return S_IFCHR;
    case HostType::kBlockDevice:
      return S_IFBLK;
  }
  return 0;
}

Result<void> check_form(const struct stat& info, HostType type) {
  const mode_t found = info.st_mode & static_cast<mode_t>(S_IFMT);
  if (type == HostType::kAny || found == form_of(type)) return {};
  const auto fitting =
      std::ranges::find(kHostTypes, found, [](const auto& row) { return form_of(row.value); });
  return refuse("is a {}, and not what \"type: {}\" asks for: {}", linux::name_of(kForms, found),
                linux::name_of(kHostTypes, type),
                fitting == std::end(kHostTypes) ? "leave out type"
                                                : fmt::format("write \"type: {}\"", fitting->name));
}

/// Opens a directory for reading, so that the kernel mounts a filesystem that is mounted on demand.
/// Opens any other file with O_PATH, which has no effect on a device or a fifo.
Result<UniqueFd> open_any(const SafeDir& top, const std::string& path) {
  auto directory = top.open(RootfsPath(path), O_RDONLY | O_DIRECTORY);
  if (directory || directory.error().number() != ENOTDIR) return directory;
  return top.open(RootfsPath(path), O_PATH);
}

/// Runs `make` with the umask 0, so that `make` can set the whole mode. A later chmod could change
/// a file that others have put in the place of the new file.
template <typename Make>
auto with_whole_mode(Make make) {
  const mode_t before = ::umask(0);
  auto made = make();
  ::umask(before);
  return made;
}

}  // namespace

MadeOnHost::~MadeOnHost() {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    const char* name = entry->name.c_str();
    const auto info = sys::fstatat(entry->parent, name);
    if (!info || info->st_dev != entry->device || info->st_ino != entry->inode) continue;
    const bool is_directory = S_ISDIR(info->st_mode);
    if (is_directory || info->st_size == 0)
      ignore(sys::unlinkat(entry->parent, name, is_directory ? AT_REMOVEDIR : 0));
  }
}

void MadeOnHost::add(UniqueFd parent, std::string name, const struct stat& info) {
  entries_.push_back({.parent = std::move(parent),
                      .name = std::move(name),
                      .device = info.st_dev,
                      .inode = info.st_ino});
}

/// The topmost of the writable directories that `path` is below; nullptr: none.
const std::string* HostPaths::writable_above(const std::string& path) const {
  if (const auto root = writable_.find("/"); root != writable_.end() && path != "/") return &*root;
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    if (const auto found = writable_.find(path.substr(0, end)); found != writable_.end())
      return &*found;
  return nullptr;
}

Result<HostPaths::Start> HostPaths::start_of(const std::string& path) const {
  if (const std::string* above = writable_above(path)) {
    auto top = SafeDir::open_root(HostPath(*above));
    if (top) return Start{*std::move(top), path.substr(above->size()), *above};
    if (top.error().number() != ENOENT) return std::unexpected(top.error());
  }
  OCIRUN_TRY_ASSIGN(SafeDir root, SafeDir::open_root(HostPath("/")));
  return Start{std::move(root), path, ""};
}

Result<std::optional<HostFile>> HostPaths::open(const std::string& path, HostType type) {
  OCIRUN_TRY_ASSIGN(const Start start, start_of(path));
  auto opened = open_any(start.top, start.path);
  if (!opened && opened.error().number() == ENOENT) {
    OCIRUN_TRY_ASSIGN(const SafeDir root, SafeDir::open_root(HostPath("/")));
    if (!start.above.empty() && root.open(RootfsPath(path), O_PATH))
      return refuse(
          "a symlink leads out of {}, where containers of this pod can write: write the path that "
          "it leads to",
          start.above);
    const bool is_directory = type == HostType::kDirectoryOrCreate;
    if (type == HostType::kFile || type == HostType::kDirectory)
      return refuse("no such file or directory (\"type: {}OrCreate\" makes it)",
                    linux::name_of(kHostTypes, type));
    if (!is_directory && type != HostType::kFileOrCreate) return std::unexpected(opened.error());
    if (absent_ == Absent::kLeave) return std::nullopt;
    OCIRUN_TRY(is_directory ? make_directories(start) : make_file(start));
    opened = open_any(start.top, start.path);
  }
  if (!opened) return std::unexpected(opened.error());
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*opened));
  OCIRUN_TRY(check_form(info, type));
  return HostFile{.fd = *std::move(opened), .info = info};
}

Result<void> HostPaths::make_directories(const Start& start) {
  OCIRUN_TRY_ASSIGN(UniqueFd parent, sys::openat(start.top.fd(), ".", O_PATH | O_DIRECTORY));
  std::string reached;
  for (const std::string_view part : linux::words(start.path, '/')) {
    const std::string name(part);
    reached += "/" + name;
    auto there = start.top.open(RootfsPath(reached), O_PATH | O_DIRECTORY);
    if (there) {
      parent = *std::move(there);
      continue;
    }
    if (there.error().number() != ENOENT) return std::unexpected(there.error());
    const auto made =
        with_whole_mode([&] { return sys::mkdirat(parent, name.c_str(), kModeOfMadeDirectory); });
    if (!made && made.error().number() == EEXIST)
      return refuse("{}{} is a symlink that leads nowhere", start.above, reached);
    if (!made) return std::unexpected(made.error());
    OCIRUN_TRY_ASSIGN(UniqueFd below,
                      sys::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(below));
    made_.add(std::exchange(parent, std::move(below)), name, info);
  }
  return {};
}

Result<void> HostPaths::make_file(const Start& start) {
  OCIRUN_TRY_ASSIGN(const auto split, SafeDir::split(RootfsPath(start.path)));
  const auto& [above, name] = split;
  auto parent = start.top.open(RootfsPath(above), O_PATH | O_DIRECTORY);
  if (!parent && parent.error().number() == ENOENT)
    return refuse(
        "its directory does not exist, and \"type: FileOrCreate\" makes none: a volume of \"type: "
        "DirectoryOrCreate\" for {}{} in front of this one makes it",
        start.above, above);
  if (!parent) return std::unexpected(parent.error());
  const auto file = with_whole_mode([&] {
    return sys::openat(*parent, name.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                       kModeOfMadeFile);
  });
  if (!file && file.error().number() == EEXIST) return refuse("is a symlink that leads nowhere");
  if (!file) return std::unexpected(file.error());
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*file));
  made_.add(*std::move(parent), name, info);
  return {};
}

}  // namespace ocirun::pods
