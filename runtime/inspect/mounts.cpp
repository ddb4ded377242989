// The mounts of the container: those of the document, and all others.

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/inspect/look_up.hpp"
#include "runtime/inspect/mount_table.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;

constexpr linux::Named<std::uint64_t> kAttributes[] = {
    {"ro", MOUNT_ATTR_RDONLY},     {"nosuid", MOUNT_ATTR_NOSUID}, {"nodev", MOUNT_ATTR_NODEV},
    {"noexec", MOUNT_ATTR_NOEXEC}, {"nosymfollow", 0x00200000},  // MOUNT_ATTR_NOSYMFOLLOW,
                                                                 // Linux 5.14
};

constexpr const char* kHangs = "a file system on the way may never answer";

/// "ro,nosuid"
std::string flags_text(std::uint64_t flags) {
  std::string text = (flags & MOUNT_ATTR_RDONLY) != 0 ? "ro" : "rw";
  for (const auto& attribute : kAttributes)
    if (attribute.value != MOUNT_ATTR_RDONLY && (flags & attribute.value) != 0)
      text += "," + std::string(attribute.name);
  return text;
}

/// Whether `found` ("ro,nosuid") has all attributes of `asked` but "rw".
bool protects_as(std::string_view found, std::string_view asked) {
  const auto has = linux::split(found, ',');
  return std::ranges::all_of(linux::split(asked, ','), [&](std::string_view word) {
    return word == "rw" || std::ranges::find(has, word) != has.end();
  });
}

/// The comparison of the mounts. All places are looked up at once, in one bounded child process.
class Comparison {
 public:
  Comparison(const bundle::Config& config, MountTable table, MountTable host)
      : config_(config), table_(std::move(table)), host_(std::move(host)) {}

  Rows run(Fd root) {
    look_all_up(root);
    compare_root();
    for (std::size_t index = 0; index < config_.mounts.size(); ++index) compare_mount(index);
    for (const RootfsPath& path : config_.masked_paths) compare_masked(clean(path));
    for (const RootfsPath& path : config_.readonly_paths) compare_read_only(clean(path));
    for (std::size_t index = 0; index < config_.devices.size(); ++index)
      compare_device(config_.devices[index], fmt::format("/linux/devices/{}", index));
    for (const linux::Device& device : linux::default_devices())
      if (!is_of_document(device) && !has_bind_on_dev()) compare_device(device, "default device");
    add_others();
    return std::move(rows_);
  }

 private:
  void look_all_up(Fd root);
  bool answers(SoughtPath::Side side, std::uint64_t mount) const;
  const std::optional<Found>* answer_for(SoughtPath::Side side, const std::string& path) const;
  /// The path without symlinks in the container; the path itself if that is not known.
  std::string resolved(const std::string& path) const;
  bool is_missing_in_container(const std::string& path) const;
  bool hangs(const std::string& path) const;

  void compare_root();
  void compare_mount(std::size_t index);
  void compare_masked(const std::string& path);
  void compare_read_only(const std::string& path);
  void compare_device(const linux::Device& device, const std::string& what);
  void add_others();
  bool is_in_tree(const MountLine& line, std::size_t count) const;
  bool is_below_shared(const MountLine& line) const;
  bool is_covered(const std::string& point) const;

  bool is_hidden(std::size_t index) const;
  bool is_of_document(const linux::Device& device) const;
  bool has_bind_on_dev() const;
  std::string expected_text(std::size_t index, const MountLine* source, bool& is_exact) const;
  void add(std::string what, std::string asked, std::string found, Verdict verdict) {
    rows_.push_back({std::move(what), std::move(asked), std::move(found), verdict});
  }

  const bundle::Config& config_;
  MountTable table_, host_;
  std::vector<SoughtPath> places_;
  std::vector<std::optional<Found>> answers_;
  // The points on which the document, or ocirun, mounts something, with the number of mounts.
  std::map<std::string, std::size_t> known_;
  /// Below whose point other mounts may be.
  struct Tree {
    std::string source;  // on the host; "": the hierarchies of cgroups
    std::string flags;   // that the mounts below must have
  };
  std::map<std::string, Tree> trees_;
  Rows rows_;
};

void Comparison::look_all_up(Fd root) {
  const auto add_place = [&](SoughtPath::Side side, std::string path) {
    places_.push_back({side, std::move(path)});
  };
  for (const linux::Mount& mount : config_.mounts) {
    add_place(SoughtPath::Side::kContainer, clean(mount.destination));
    if (mount.bind) add_place(SoughtPath::Side::kHost, mount.source);
  }
  for (const auto* paths : {&config_.masked_paths, &config_.readonly_paths})
    for (const RootfsPath& path : *paths) add_place(SoughtPath::Side::kContainer, clean(path));
  for (const linux::Device& device : config_.devices)
    add_place(SoughtPath::Side::kContainer, clean(device.path));
  for (const linux::Device& device : linux::default_devices())
    add_place(SoughtPath::Side::kContainer, clean(device.path));
  // A mount point on the host that does not answer must not hide what is in the container.
  add_place(SoughtPath::Side::kHost, config_.root_path.string());
  static_cast<void>(std::ranges::partition(
      places_, [](const SoughtPath& place) { return place.side == SoughtPath::Side::kContainer; }));
  answers_ = look_up(root, places_, [this](SoughtPath::Side side, std::uint64_t mount) {
    return answers(side, mount);
  });
}

/// Whether the file system of a mount always answers: the root that the document names, those that
/// live in the kernel's memory, and those of the host that no server stands behind. The container
/// can mount all others itself, with a server of its own or on top of one.
bool Comparison::answers(SoughtPath::Side side, std::uint64_t mount) const {
  constexpr std::string_view kInMemory[] = {"tmpfs", "devtmpfs",  "devpts",     "proc",
                                            "sysfs", "mqueue",    "cgroup",     "cgroup2",
                                            "ramfs", "hugetlbfs", "securityfs", "bpf"};
  constexpr std::string_view kServed[] = {"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs"};
  const bool is_host = side == SoughtPath::Side::kHost;
  const MountLine* const line = (is_host ? host_ : table_).with_id(mount);
  if (line == nullptr) return false;
  const auto is_prefix = [&](std::string_view type) { return line->type.starts_with(type); };
  if (std::ranges::any_of(kServed, is_prefix)) return false;
  return is_host || line->point == "/" ||
         std::ranges::find(kInMemory, line->type) != std::end(kInMemory) ||
         std::ranges::find(host_.lines(), line->device, &MountLine::device) != host_.lines().end();
}

const std::optional<Found>* Comparison::answer_for(SoughtPath::Side side,
                                                   const std::string& path) const {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].side == side && places_[i].path == path) return &answers_[i];
  return nullptr;
}

std::string Comparison::resolved(const std::string& path) const {
  const auto* const found = answer_for(SoughtPath::Side::kContainer, path);
  const bool is_known = found != nullptr && *found && (*found)->error == 0;
  if (!is_known) return path;
  // Whoever has removed a file on the host has removed what is mounted here.
  const std::string& reached = (*found)->path;
  constexpr std::string_view kRemoved = " (deleted)";
  const std::string before =
      reached.ends_with(kRemoved) ? reached.substr(0, reached.size() - kRemoved.size()) : reached;
  return table_.at(before) != nullptr ? before : reached;
}

bool Comparison::is_missing_in_container(const std::string& path) const {
  const auto* const found = answer_for(SoughtPath::Side::kContainer, path);
  return found != nullptr && *found && ((*found)->error == ENOENT || (*found)->error == ENOTDIR);
}

bool Comparison::hangs(const std::string& path) const {
  const auto* const found = answer_for(SoughtPath::Side::kContainer, path);
  return found != nullptr && (!*found || (*found)->error == EREMOTE);
}

void Comparison::compare_root() {
  known_["/"] = table_.count_at("/");
  const auto* const source = answer_for(SoughtPath::Side::kHost, config_.root_path.string());
  const bool is_source_known = source != nullptr && *source && (*source)->error == 0;
  trees_["/"] = {.source = is_source_known ? (*source)->path : config_.root_path.string(),
                 .flags = ""};
  const MountLine* const line = table_.at("/");
  const std::string asked = config_.root_readonly ? "ro" : "rw";
  if (line == nullptr) return add("/root", asked, "not in the mount table", Verdict::kUnknown);
  const bool is_read_only = line->has("ro");
  // The rootfs may lie on a read-only mount, and a mount on "/" may change the root.
  const bool may_be_read_only = is_read_only && !config_.root_readonly;
  add("/root " + config_.root_path.string(), asked, line->text(),
      may_be_read_only                        ? Verdict::kUnasked
      : is_read_only == config_.root_readonly ? Verdict::kAsAsked
                                              : Verdict::kDrift);
}

/// Whether a later mount of the document hides the mount with this index.
bool Comparison::is_hidden(std::size_t index) const {
  const std::string path = clean(config_.mounts[index].destination);
  return std::ranges::any_of(
      std::span(config_.mounts).subspan(index + 1), [&](const linux::Mount& later) {
        return !later.remount && linux::is_at_or_below(path, clean(later.destination));
      });
}

/// The attributes after all entries for the same destination, because a remount changes them. A
/// bind has those of its source's mount, if nothing else is asked. `is_exact`: false where the
/// source is not known, so that more attributes than the text has are no drift.
std::string Comparison::expected_text(std::size_t index, const MountLine* source,
                                      bool& is_exact) const {
  const linux::Mount& first = config_.mounts[index];
  std::uint64_t flags = 0;
  // These may be the host's mount, bound where the kernel refuses a new one.
  const bool may_be_bound = first.type == "sysfs" || first.type == "proc" || first.type == "mqueue";
  is_exact = first.bind ? source != nullptr : !may_be_bound;
  if (first.bind && source != nullptr)
    for (const auto& attribute : kAttributes)
      if (source->has(attribute.name)) flags |= attribute.value;
  const std::string path = clean(first.destination);
  for (const linux::Mount& mount : std::span(config_.mounts).subspan(index)) {
    if (clean(mount.destination) != path) continue;
    flags &= ~(mount.attributes.clear | mount.recursive_attributes.clear);
    flags |= mount.attributes.set | mount.recursive_attributes.set;
  }
  return flags_text(flags);
}

/// "shared", "slave", "private": mountinfo has shared:N and master:N.
std::string_view propagation_of(const MountLine& line) {
  if (line.propagation.starts_with("shared:")) return "shared";
  if (line.propagation.starts_with("master:")) return "slave";
  return line.propagation.starts_with("unbindable") ? "unbindable" : "private";
}

std::string_view name_of(linux::Propagation propagation) {
  switch (propagation) {
    case linux::Propagation::kShared:
      return "shared";
    case linux::Propagation::kSlave:
      return "slave";
    case linux::Propagation::kPrivate:
      return "private";
    case linux::Propagation::kUnbindable:
      return "unbindable";
    case linux::Propagation::kUnchanged:
      break;
  }
  return "";
}

/// What mountinfo puts behind the root of a mount whose file was removed.
constexpr std::string_view kDeleted = "//deleted";

/// Whether `line` shows what the path `source` leads to, which is on the mount `of`.
bool shows(const MountLine& line, const MountLine& of, std::string_view source) {
  if (line.device != of.device || !linux::is_at_or_below(source, of.point)) return false;
  const std::string below(of.point == "/" ? source : source.substr(of.point.size()));
  const std::string root = (of.root == "/" ? "" : of.root) + below;
  return line.root == (root.empty() ? "/" : root);
}

void Comparison::compare_mount(std::size_t index) {
  const linux::Mount& mount = config_.mounts[index];
  if (mount.remount) return;
  const std::string path = clean(mount.destination);
  if (path == "/") return;
  const std::string what = fmt::format("/mounts/{} {}", index, path);
  const std::string point = resolved(path);
  ++known_[point];
  const auto* const source =
      mount.bind ? answer_for(SoughtPath::Side::kHost, mount.source) : nullptr;
  const bool is_source_known = source != nullptr && *source && (*source)->error == 0;
  if (is_hidden(index)) return add(what, "", "hidden by a later mount", Verdict::kUnasked);
  const MountLine* const line = table_.at(point);
  const MountLine* const source_mount = is_source_known ? host_.with_id((*source)->mount) : nullptr;
  bool is_exact = true;
  const std::string flags = expected_text(index, source_mount, is_exact);
  if (mount.is_of_cgroups()) trees_[point] = {.source = "", .flags = flags};
  if (mount.bind && mount.recursive)
    trees_[point] = {.source = is_source_known ? (*source)->path : mount.source,
                     .flags = flags_text(mount.recursive_attributes.set)};
  if (is_covered(point)) return add(what, "", "covered by a masked path", Verdict::kAsAsked);
  const std::string type = mount.bind ? std::string("bind") : mount.type;
  std::string asked = type + " " + flags;
  if (line == nullptr) {
    if (hangs(path)) return add(what, asked, kHangs, Verdict::kUnknown);
    return add(what, asked, "nothing is mounted there", Verdict::kDrift);
  }
  const std::string text = line->text();
  const std::string found_flags = text.substr(text.find(' ') + 1);
  // A mount of cgroups is a tmpfs with the hierarchies below, or a hierarchy.
  const bool is_type = mount.bind || mount.is_of_cgroups() || line->type.starts_with(mount.type);
  bool is_same = is_type && (is_exact ? found_flags == flags : protects_as(found_flags, flags));
  std::string found = (mount.bind ? "bind of " : "") + text;
  if (source_mount != nullptr && !shows(*line, *source_mount, (*source)->path)) {
    asked += " of " + mount.source;
    found += line->root.ends_with(kDeleted) ? ", whose source was removed or replaced"
                                            : ", another source: " + line->root;
    is_same = false;
  }
  // A recursive rootfsPropagation comes after the mounts, and changes theirs.
  const bool is_propagation_kept = config_.rootfs_propagation == linux::Propagation::kUnchanged ||
                                   !config_.rootfs_propagation_recursive;
  if (const std::string_view propagation = name_of(mount.propagation);
      !propagation.empty() && is_propagation_kept) {
    asked += fmt::format(",{}", propagation);
    found += fmt::format(",{}", propagation_of(*line));
    // What comes from a private mount cannot be its slave.
    const bool is_private_slave = propagation == "slave" && propagation_of(*line) == "private";
    is_same = is_same && (propagation == propagation_of(*line) || is_private_slave);
  } else if (propagation_of(*line) == "shared" && !is_below_shared(*line)) {
    found += ",shared";
    is_same = false;
  }
  add(what, asked, found, is_same ? Verdict::kAsAsked : Verdict::kDrift);
  if (is_same) rows_.back().asked.clear();
}

/// A masked file shows the null device, and a masked directory a read-only tmpfs.
void Comparison::compare_masked(const std::string& path) {
  const std::string what = "/linux/maskedPaths " + path;
  const std::string point = resolved(path);
  ++known_[point];
  const MountLine* const line = table_.at(point);
  if (line != nullptr) {
    const bool is_null = line->root.ends_with("/null");
    const bool is_mask = is_null || (line->type == "tmpfs" && line->has("ro"));
    return add(what, is_mask ? "" : "masked", is_null ? "masked by the null device" : line->text(),
               is_mask ? Verdict::kAsAsked : Verdict::kDrift);
  }
  if (is_missing_in_container(path))
    return add(what, "", "the container has no such path", Verdict::kAsAsked);
  if (hangs(path)) return add(what, "masked", kHangs, Verdict::kUnknown);
  add(what, "masked", "not masked", Verdict::kDrift);
}

void Comparison::compare_read_only(const std::string& path) {
  const std::string what = "/linux/readonlyPaths " + path;
  const std::string point = resolved(path);
  ++known_[point];
  // The path is read-only by a mount of its own, or because all around it is.
  for (std::string at = point; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    const MountLine* const line = table_.at(at);
    if (line == nullptr) continue;
    const bool is_read_only = line->has("ro");
    if (!is_read_only && (is_missing_in_container(path) || hangs(path))) break;
    return add(what, is_read_only ? "" : "ro", line->text(),
               is_read_only ? Verdict::kAsAsked : Verdict::kDrift);
  }
  if (is_missing_in_container(path))
    return add(what, "", "the container has no such path", Verdict::kAsAsked);
  if (hangs(path)) return add(what, "ro", kHangs, Verdict::kUnknown);
  const bool is_read_only = config_.root_readonly;
  add(what, is_read_only ? "" : "ro", is_read_only ? "as the root" : "rw",
      is_read_only ? Verdict::kAsAsked : Verdict::kDrift);
}

bool Comparison::is_of_document(const linux::Device& device) const {
  return std::ranges::any_of(config_.devices, [&](const linux::Device& other) {
    return clean(other.path) == clean(device.path);
  });
}

/// Whether /dev is a directory of the host: it has the nodes that it has.
bool Comparison::has_bind_on_dev() const {
  return std::ranges::any_of(config_.mounts, [](const linux::Mount& mount) {
    return mount.bind && linux::is_dev_directory(clean(mount.destination));
  });
}

std::string device_text(char kind, std::int64_t major, std::int64_t minor) {
  return kind == 'p' ? "fifo" : fmt::format("{} {}:{}", kind, major, minor);
}

void Comparison::compare_device(const linux::Device& device, const std::string& what) {
  const std::string path = clean(device.path);
  known_.try_emplace(resolved(path), 1);
  const auto* const found = answer_for(SoughtPath::Side::kContainer, path);
  const std::string asked = device_text(static_cast<char>(device.kind), device.major, device.minor);
  Row row{what + " " + path, asked, "", Verdict::kUnknown};
  if (found == nullptr || hangs(path)) {
    row.found = kHangs;
  } else if ((*found)->error != 0) {
    row.found = fail((*found)->error, "look up").error().message();
    row.verdict = is_missing_in_container(path) ? Verdict::kDrift : Verdict::kUnknown;
  } else {
    const mode_t mode = (*found)->mode;
    const auto number = static_cast<dev_t>((*found)->device);
    const char kind = S_ISCHR(mode) ? 'c' : S_ISBLK(mode) ? 'b' : S_ISFIFO(mode) ? 'p' : '?';
    row = compared(row.what, asked,
                   kind == '?' ? "no device"
                               : device_text(kind, gnu_dev_major(number), gnu_dev_minor(number)));
    // A node that is bound from the host keeps the host's mode.
    if (row.verdict == Verdict::kAsAsked && device.mode && table_.at(resolved(path)) == nullptr &&
        (mode & 07777U) != *device.mode) {
      row.asked += fmt::format(" mode {:04o}", *device.mode);
      row.found += fmt::format(" mode {:04o}", mode & 07777U);
      row.verdict = Verdict::kDrift;
    }
  }
  rows_.push_back(std::move(row));
}

/// The mounts that neither the document nor ocirun has made.
void Comparison::add_others() {
  if (config_.process && config_.process->terminal) {
    const std::string console = resolved(linux::dev_path("console").string());
    const MountLine* const line = table_.at(console);
    if (line != nullptr && line->type == "devpts") known_.try_emplace(console, 1);
  }
  std::map<std::string, std::size_t> seen;
  for (const MountLine& line : table_.lines()) {
    const auto known = known_.find(line.point);
    const std::size_t count = known == known_.end() ? 0 : known->second;
    const std::size_t number = ++seen[line.point];
    if (number <= count || is_in_tree(line, number - count)) continue;
    add("mount " + line.point, "",
        line.text() + (count == 0 ? ", which the document does not have"
                                  : ", over the mount of the document"),
        Verdict::kDrift);
  }
}

/// Whether the mount came with a recursive bind, or is one of the hierarchies of cgroups. `count`:
/// of the mounts on its point, up to this one.
bool Comparison::is_in_tree(const MountLine& line, std::size_t count) const {
  return std::ranges::any_of(trees_, [&](const auto& entry) {
    const auto& [point, tree] = entry;
    if (line.point == point || !linux::is_at_or_below(line.point, point)) return false;
    const std::string text = line.text();
    if (!protects_as(text.substr(text.find(' ') + 1), tree.flags)) return false;
    if (tree.source.empty()) return line.type.starts_with("cgroup") && count == 1;
    const std::string top = tree.source == "/" ? "" : tree.source;
    const std::string below = point == "/" ? line.point : line.point.substr(point.size());
    const auto is_original = [&](const MountLine& original) {
      return original.point == top + below && original.device == line.device &&
             original.root == line.root;
    };
    return std::ranges::any_of(host_.lines(), is_original) && count <= host_.count_at(top + below);
  });
}

/// A new mount is shared if the mount that it is attached to is.
bool Comparison::is_below_shared(const MountLine& line) const {
  const MountLine* const parent = table_.with_id(line.parent);
  return config_.rootfs_propagation == linux::Propagation::kShared ||
         (parent != nullptr && propagation_of(*parent) == "shared");
}

/// Whether the document masks the point of one of its mounts, or makes it read-only.
bool Comparison::is_covered(const std::string& point) const {
  const auto is_point = [&](const RootfsPath& path) { return resolved(clean(path)) == point; };
  return std::ranges::any_of(config_.masked_paths, is_point) ||
         std::ranges::any_of(config_.readonly_paths, is_point);
}

}  // namespace

Rows inspect_mounts(const Subject& subject) {
  const auto text = subject.read("mountinfo");
  const auto host = linux::read_mountinfo(subject.procfs);
  auto root = linux::sys::openat(subject.procfs.fd(), fmt::format("{}/root", subject.pid).c_str(),
                                 O_PATH | O_DIRECTORY);
  if (!text) return {{"mounts", "", text.error().message(), Verdict::kUnknown}};
  if (!root) return {{"mounts", "", root.error().message(), Verdict::kUnknown}};
  return Comparison(subject.config, MountTable(*text), MountTable(host.value_or(""))).run(*root);
}

}  // namespace ocirun::runtime
