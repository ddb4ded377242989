#include "pods/prepare/program_lookup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <optional>

#include "bundle/json/document.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

constexpr int kMostLinks = 40;      // as path_resolution(7)
constexpr int kMostSteps = 10'000;  // in all, so that no image keeps `run` busy

constexpr const char* kNoBit = "it has no x bit (chmod +x in the image)";

enum class Sight : std::uint8_t {
  kExecutable,
  kDirectory,
  kForbidden,  // nobody may execute the file
  kAbsent,
  kHidden,  // below a mount, or the walk has failed in another way
};

/// Where a walk through the root filesystem has ended.
struct Walked {
  Sight sight = Sight::kHidden;
  std::string path;  // without symlinks, as far as the files are there
};

void put_first(std::deque<std::string>& rest, std::string_view path) {
  const auto parts = linux::words(path, '/');
  rest.insert(rest.begin(), parts.begin(), parts.end());
}

/// What the runtime makes before it looks for the program: paths without symlinks.
struct Made {
  std::vector<std::string> mounted;
  std::string cwd;
  int* steps_left = nullptr;

  bool covers(const std::string& path) const {
    return std::ranges::find(mounted, path) != mounted.end();
  }
  /// Whether the runtime makes the directory `path`, if the root filesystem lacks it.
  bool has_directory(const std::string& path) const {
    const auto is_above = [&](const std::string& made) { return made.starts_with(path + "/"); };
    return cwd == path || is_above(cwd) || std::ranges::any_of(mounted, is_above);
  }
};

/// Follows the absolute `path` and its symlinks inside `root`.
Walked walk(const linux::SafeDir& root, const Made& made, std::string_view path) {
  if (made.covers("")) return {};  // a mount on "/"
  std::deque<std::string> rest;
  put_first(rest, path);
  std::string at;
  mode_t mode = S_IFDIR;
  int links = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.front());
    rest.pop_front();
    if (part == ".") continue;
    if (part == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      mode = S_IFDIR;
      continue;
    }
    const std::string next = fmt::format("{}/{}", at, part);
    if (made.covers(next) || --*made.steps_left < 0) return {Sight::kHidden, next};
    const auto file = root.open(RootfsPath(next), O_PATH | O_NOFOLLOW);
    const auto info = file ? linux::sys::fstat(*file) : std::unexpected(file.error());
    if (!info) {
      const int error = info.error().number();
      if (error == ENOENT && made.has_directory(next)) {
        at = next;
        mode = S_IFDIR;
        continue;
      }
      std::string absent = next;
      for (const std::string& more : rest) absent += "/" + more;
      return {error == ENOENT || error == ENOTDIR ? Sight::kAbsent : Sight::kHidden, absent};
    }
    mode = info->st_mode;
    if (!S_ISLNK(mode)) {
      at = next;
      continue;
    }
    const auto target = linux::sys::readlinkat(*file, "");
    if (!target || ++links > kMostLinks) return {Sight::kHidden, next};
    if (target->starts_with('/')) at.clear();
    put_first(rest, *target);
    mode = S_IFDIR;
  }
  const Sight sight = S_ISDIR(mode)        ? Sight::kDirectory
                      : (mode & 0111) == 0 ? Sight::kForbidden
                                           : Sight::kExecutable;
  return {sight, at};
}

/// The path of `name` for a program whose working directory is `cwd`.
std::string absolute(const std::string& cwd, const std::string& name) {
  return name.starts_with('/') ? name : fmt::format("{}/{}", cwd, name);
}

std::string text_of(const bundle::Node* node) {
  return std::string(node != nullptr && node->is_string() ? node->text : "");
}

}  // namespace

Result<void> look_program_up(const ProgramPlace& place, const linux::SafeDir& root) {
  int steps_left = kMostSteps;
  const Made nothing{.mounted = {}, .cwd = {}, .steps_left = &steps_left};
  Made made = nothing;
  for (const std::string& path : place.mounted)
    made.mounted.push_back(walk(root, nothing, path).path);
  made.cwd = walk(root, nothing, place.cwd).path;
  if (place.name.contains('/')) {
    switch (walk(root, made, absolute(place.cwd, place.name)).sight) {
      case Sight::kAbsent:
        return fail(ENOENT, "exec: \"{0}\": stat {0}", place.name);
      case Sight::kDirectory:
        return fail(EACCES, "exec: \"{}\": it is a directory, not a program", place.name);
      case Sight::kForbidden:
        return fail(EACCES, "exec: \"{}\": {}", place.name, kNoBit);
      case Sight::kExecutable:
      case Sight::kHidden:
        return {};
    }
  }
  if (place.path.empty() || place.name.empty()) return {};
  std::string forbidden;
  std::string_view rest = place.path;
  for (bool more = true; more;) {
    more = rest.contains(':');
    const std::string directory(linux::cut(rest, ':'));
    const std::string file = fmt::format("{}/{}", absolute(place.cwd, directory), place.name);
    const Sight sight = walk(root, made, file).sight;
    if (sight == Sight::kExecutable || sight == Sight::kHidden) return {};
    if (sight == Sight::kForbidden && forbidden.empty()) forbidden = file;
  }
  if (!forbidden.empty())
    return fail(EACCES, "exec: \"{}\": {}: {}", place.name, forbidden, kNoBit);
  return refuse("exec: \"{}\": executable file not found in $PATH", place.name);
}

Result<void> check_program(const std::string& directory) {
  OCIRUN_TRY_ASSIGN(
      const std::string config,
      linux::read_file(Fd{AT_FDCWD}, directory + "/config.json", bundle::Document::kMaxSize));
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(config, report)) return {};  // the runtime tells what is wrong
  const bundle::Node* process = document.root()->find("process");
  const bundle::Node* args = process == nullptr ? nullptr : process->find("args");
  const bundle::Node* rootfs = document.root()->find("root");
  if (args == nullptr || rootfs == nullptr || document.root()->find("hooks") != nullptr) return {};
  ProgramPlace place{.mounted = {}, .name = text_of(args->first), .path = {}, .cwd = {}};
  place.cwd = text_of(process->find("cwd"));
  constexpr std::string_view kPath = "PATH=";
  if (const bundle::Node* env = process->find("env"))
    for (const bundle::Node* entry = env->first; entry != nullptr; entry = entry->next)
      if (entry->text.starts_with(kPath)) place.path = entry->text.substr(kPath.size());
  if (const bundle::Node* mounts = document.root()->find("mounts"))
    for (const bundle::Node* mount = mounts->first; mount != nullptr; mount = mount->next)
      place.mounted.push_back(text_of(mount->find("destination")));
  const std::string path = text_of(rootfs->find("path"));
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root,
                    linux::SafeDir::open_root(HostPath(absolute(directory, path))));
  return look_program_up(place, root);
}

}  // namespace ocirun::pods
