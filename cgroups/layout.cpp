#include "cgroups/layout.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/text.hpp"

namespace ocirun::cgroups {
namespace {

/// A line of mountinfo about a cgroup mount.
struct CgroupMount {
  std::string root, mount_point;
  bool unified = false;
  std::vector<std::string_view> options;  // of the superblock: v1's controllers are among them
};

/// mountinfo writes blank, tab, newline and backslash as "\040" and so on.
std::string unescape(std::string_view text) {
  const auto octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

/// "36 31 0:33 ROOT MOUNT_POINT rw … - cgroup SOURCE rw,memory" (proc_pid_mountinfo(5)).
std::vector<CgroupMount> find_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (!mountinfo.empty()) {
    const std::size_t end = mountinfo.find('\n');
    const std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);

    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto mount = words(line.substr(0, dash));
    const auto filesystem = words(line.substr(dash + 3));
    if (mount.size() < 5 || filesystem.empty()) continue;
    const std::string point = unescape(mount[4]);
    // A later mount at the same place or above covers what was there.
    std::erase_if(mounts, [&](const CgroupMount& m) { return is_below(m.mount_point, point); });
    if (filesystem[0] != "cgroup" && filesystem[0] != "cgroup2") continue;
    mounts.push_back(
        {.root = unescape(mount[3]),
         .mount_point = point,
         .unified = filesystem[0] == "cgroup2",
         .options = split(filesystem.size() > 2 ? filesystem[2] : std::string_view(), ',')});
  }
  return mounts;
}

/// Of two mounts of one hierarchy: the one with the shorter root, if our own cgroup is below it.
bool shows_more(const CgroupMount& mount, const CgroupMount& other, std::string_view own_path) {
  const bool ours = is_below(own_path, mount.root);
  const bool theirs = is_below(own_path, other.root);
  if (ours != theirs) return ours;
  return mount.root.size() < other.root.size();
}

Result<std::string> read_text(const linux::Procfs& procfs, std::string_view file) {
  TRY_ASSIGN(const UniqueFd fd, procfs.open_file(file, O_RDONLY));
  constexpr std::size_t kChunk = 16384;  // a host of many containers has a long mountinfo
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  std::string text;
  while (text.size() < kLimit) {
    const std::size_t filled = text.size();
    text.resize(filled + kChunk);
    const ssize_t count = ::read(fd.get(), text.data() + filled, kChunk);
    text.resize(filled + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count == 0) return text;
    if (count < 0 && errno != EINTR) return fail(errno, "read {}", file);
  }
  return fail(EFBIG, "read {}", file);
}

}  // namespace

bool Layout::pure_v2() const {
  return !hierarchies.empty() &&
         std::ranges::all_of(hierarchies, [](const Hierarchy& h) { return h.unified; });
}

Result<Layout> parse_layout(std::string_view mountinfo, std::string_view own_cgroups) {
  const std::vector<CgroupMount> mounts = find_cgroup_mounts(mountinfo);
  Layout layout;
  // "4:memory:/path", "9:name=systemd:/path", "0::/path" (cgroups(7)): one line a hierarchy. Its
  // controllers tell which of a mount's options are controllers.
  for (const std::string_view line : words(own_cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos)
      return refuse("the runtime's own cgroup: cannot read the line \"{}\"", line);
    const auto controllers = words(line.substr(first + 1, second - first - 1), ',');
    const std::string own_path(line.substr(second + 1));

    const CgroupMount* best = nullptr;
    for (const CgroupMount& mount : mounts) {
      const bool matches = mount.unified
                               ? controllers.empty()
                               : std::ranges::any_of(mount.options, [&](std::string_view option) {
                                   return contains(controllers, option);
                                 });
      if (matches && (best == nullptr || shows_more(mount, *best, own_path))) best = &mount;
    }
    if (best == nullptr) continue;  // known to the kernel, mounted nowhere
    layout.hierarchies.push_back({.mount_point = HostPath(best->mount_point),
                                  .root = best->root,
                                  .controllers = {controllers.begin(), controllers.end()},
                                  .unified = best->unified,
                                  .own_path = own_path});
  }
  if (layout.hierarchies.empty())
    return refuse(
        "no cgroup hierarchy is mounted: mount cgroup2 at /sys/fs/cgroup, or run with "
        "--cgroup-manager=disabled");
  return layout;
}

Result<Layout> read_layout(const linux::Procfs& procfs) {
  TRY_ASSIGN(const std::string mountinfo, read_text(procfs, "self/mountinfo"));
  TRY_ASSIGN(const std::string own_cgroups, read_text(procfs, "self/cgroup"));
  return parse_layout(mountinfo, own_cgroups);
}

}  // namespace ocirun::cgroups
