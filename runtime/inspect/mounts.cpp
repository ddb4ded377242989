// The mounts of the container: those of the document, and all others.

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/inspect/places.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;

/// The comparison of the mounts. All places are looked up at once, in one bounded child process.
class Comparison {
 public:
  Comparison(const Subject& subject, const Places& places)
      : config_(subject.config), own_mounts_(subject.own_mounts), places_(places) {}

  Rows run() {
    compare_root();
    for (std::size_t index = 0; index < config_.mounts.size(); ++index) compare_mount(index);
    for (const RootfsPath& path : config_.masked_paths) compare_masked(clean(path));
    for (const RootfsPath& path : config_.readonly_paths) compare_read_only(clean(path));
    add_others();
    return std::move(rows_);
  }

 private:
  void compare_root();
  void compare_mount(std::size_t index);
  void compare_masked(const std::string& path);
  void compare_read_only(const std::string& path);
  bool compare_propagation(const linux::Mount& mount, const MountLine& line, Row& row) const;
  void know_devices();
  void add_others();
  bool is_in_tree(const MountLine& line, std::size_t count) const;
  bool is_below_shared(const MountLine& line) const;
  bool is_covered(const std::string& point) const;

  bool is_hidden(std::size_t index) const;
  std::uint64_t expected_protections(std::size_t index, const MountLine* source) const;
  void add(std::string what, std::string asked, std::string found, Verdict verdict) {
    rows_.push_back({std::move(what), std::move(asked), std::move(found), verdict});
  }

  const MountTable& table() const { return places_.inside(); }

  const bundle::Config& config_;
  std::size_t own_mounts_;
  const Places& places_;
  // The points on which the document, or ocirun, mounts something, with the number of mounts.
  std::map<std::string, std::size_t> known_;
  /// Below whose point other mounts may be.
  struct Tree {
    std::string source;             // on the host; "": the hierarchies of cgroups
    std::uint64_t protections = 0;  // that the mounts below must have
  };
  std::map<std::string, Tree> trees_;
  Rows rows_;
};

void Comparison::compare_root() {
  known_["/"] = table().count_at("/");
  const std::string& path = config_.root_path.string();
  const Found* const source = places_.on_host(path);
  trees_["/"] = {.source = source == nullptr ? path : source->path};
  const MountLine* const line = table().at("/");
  const std::string asked = config_.root_readonly ? "ro" : "rw";
  if (line == nullptr) return add("/root", asked, "not in the mount table", Verdict::kUnknown);
  const bool is_read_only = line->has("ro");
  // The rootfs may lie on a read-only mount, and a mount on "/" may change the root.
  const bool may_be_read_only = is_read_only && !config_.root_readonly;
  add("/root " + path, asked, line->text(),
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
/// bind has those of the mount of its source, if nothing else is asked.
std::uint64_t Comparison::expected_protections(std::size_t index, const MountLine* source) const {
  std::uint64_t bits = source == nullptr ? 0 : source->protections();
  const std::string path = clean(config_.mounts[index].destination);
  for (const linux::Mount& mount : std::span(config_.mounts).subspan(index)) {
    if (clean(mount.destination) != path) continue;
    bits &= ~(mount.attributes.clear | mount.recursive_attributes.clear);
    bits |= mount.attributes.set | mount.recursive_attributes.set;
  }
  return bits & kProtections;
}

/// Whether the mount has exactly the attributes that are expected. A bind of which the source is
/// not known may have more; as the host's mount that is bound where the kernel refuses a new one.
bool may_have_more(const linux::Mount& mount, const MountLine* source) {
  if (mount.bind) return source == nullptr;
  return mount.type == "sysfs" || mount.type == "proc" || mount.type == "mqueue";
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

/// Adds the propagation to both texts of `row`. Returns whether it is as asked.
bool Comparison::compare_propagation(const linux::Mount& mount, const MountLine& line,
                                     Row& row) const {
  const std::string_view asked = name_of(mount.propagation);
  const std::string_view found = propagation_of(line);
  // A recursive rootfsPropagation comes after the mounts, and changes theirs.
  const bool is_changed_later = config_.rootfs_propagation != linux::Propagation::kUnchanged &&
                                config_.rootfs_propagation_recursive;
  if (asked.empty() || is_changed_later) {
    const bool is_same = found != "shared" || is_below_shared(line);
    if (!is_same) row.found += ",shared";
    return is_same;
  }
  row.asked += fmt::format(",{}", asked);
  row.found += fmt::format(",{}", found);
  // What comes from a private mount cannot be its slave.
  return asked == found || (asked == "slave" && found == "private");
}

void Comparison::compare_mount(std::size_t index) {
  const linux::Mount& mount = config_.mounts[index];
  if (mount.remount) return;
  const std::string path = clean(mount.destination);
  if (path == "/") return;
  Row row;
  row.what =
      index < own_mounts_ ? fmt::format("/mounts/{} {}", index, path) : "added mount " + path;
  const std::string point = places_.resolved(path);
  ++known_[point];
  const Found* const source = mount.bind ? places_.on_host(mount.source) : nullptr;
  const MountLine* const origin =
      source == nullptr ? nullptr : places_.host().with_id(source->mount);
  const std::uint64_t wanted = expected_protections(index, origin);
  if (mount.is_of_cgroups()) trees_[point] = {.source = "", .protections = wanted};
  if (mount.bind && mount.recursive)
    trees_[point] = {.source = source == nullptr ? mount.source : source->path,
                     .protections = mount.recursive_attributes.set & kProtections};
  if (is_hidden(index)) return add(row.what, "", "hidden by a later mount", Verdict::kUnasked);
  if (is_covered(point)) return add(row.what, "", "covered by a masked path", Verdict::kAsAsked);
  row.asked = (mount.bind ? "bind" : mount.type) + " " + text_of_protections(wanted);
  const MountLine* const line = table().at(point);
  if (line == nullptr) {
    if (places_.hangs(path)) return add(row.what, row.asked, kHangs, Verdict::kUnknown);
    return add(row.what, row.asked, "nothing is mounted there", Verdict::kDrift);
  }
  const std::uint64_t found = line->protections();
  // A mount of cgroups is a tmpfs with the hierarchies below, or a hierarchy.
  bool is_same = mount.bind || mount.is_of_cgroups() || line->type.starts_with(mount.type);
  is_same =
      is_same && (may_have_more(mount, origin) ? (found & wanted) == wanted : found == wanted);
  row.found = (mount.bind ? "bind of " : "") + line->text();
  if (origin != nullptr && !shows(*line, *origin, source->path)) {
    row.asked += " of " + mount.source;
    row.found += line->root.ends_with(kDeleted) ? ", whose source was removed or replaced"
                                                : ", another source: " + line->root;
    is_same = false;
  }
  is_same = compare_propagation(mount, *line, row) && is_same;
  row.verdict = is_same ? Verdict::kAsAsked : Verdict::kDrift;
  if (is_same) row.asked.clear();
  rows_.push_back(std::move(row));
}

/// A masked file shows the null device, and a masked directory a read-only tmpfs.
void Comparison::compare_masked(const std::string& path) {
  const std::string what = "/linux/maskedPaths " + path;
  const std::string point = places_.resolved(path);
  ++known_[point];
  const MountLine* const line = table().at(point);
  if (line != nullptr) {
    const bool is_null = line->root.ends_with("/null");
    const bool is_mask = is_null || (line->type == "tmpfs" && line->has("ro"));
    return add(what, is_mask ? "" : "masked", is_null ? "masked by the null device" : line->text(),
               is_mask ? Verdict::kAsAsked : Verdict::kDrift);
  }
  if (places_.is_missing(path))
    return add(what, "", "the container has no such path", Verdict::kAsAsked);
  if (places_.hangs(path)) return add(what, "masked", kHangs, Verdict::kUnknown);
  add(what, "masked", "not masked", Verdict::kDrift);
}

void Comparison::compare_read_only(const std::string& path) {
  const std::string what = "/linux/readonlyPaths " + path;
  const std::string point = places_.resolved(path);
  ++known_[point];
  // The path is read-only by a mount of its own, or because all around it is.
  for (std::string at = point; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    const MountLine* const line = table().at(at);
    if (line == nullptr) continue;
    const bool is_read_only = line->has("ro");
    if (!is_read_only && (places_.is_missing(path) || places_.hangs(path))) break;
    return add(what, is_read_only ? "" : "ro", line->text(),
               is_read_only ? Verdict::kAsAsked : Verdict::kDrift);
  }
  if (places_.is_missing(path))
    return add(what, "", "the container has no such path", Verdict::kAsAsked);
  if (places_.hangs(path)) return add(what, "ro", kHangs, Verdict::kUnknown);
  const bool is_read_only = config_.root_readonly;
  add(what, is_read_only ? "" : "ro", is_read_only ? "as the root" : "rw",
      is_read_only ? Verdict::kAsAsked : Verdict::kDrift);
}

/// Where mknod(2) is not possible, a device is a bind of the host's node.
void Comparison::know_devices() {
  const auto know = [&](const linux::Device& device) {
    known_.try_emplace(places_.resolved(clean(device.path)), 1);
  };
  for (const linux::Device& device : config_.devices) know(device);
  for (const linux::Device& device : linux::default_devices()) know(device);
}

/// The mounts that neither the document nor ocirun has made.
void Comparison::add_others() {
  know_devices();
  if (config_.process && config_.process->terminal) {
    const std::string console = places_.resolved(linux::dev_path("console").string());
    const MountLine* const line = table().at(console);
    if (line != nullptr && line->type == "devpts") known_.try_emplace(console, 1);
  }
  std::map<std::string, std::size_t> seen;
  for (const MountLine& line : table().lines()) {
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
    if ((line.protections() & tree.protections) != tree.protections) return false;
    if (tree.source.empty()) return line.type.starts_with("cgroup") && count == 1;
    const std::string top = tree.source == "/" ? "" : tree.source;
    const std::string below = point == "/" ? line.point : line.point.substr(point.size());
    const auto is_original = [&](const MountLine& original) {
      return original.point == top + below && original.device == line.device &&
             original.root == line.root;
    };
    return std::ranges::any_of(places_.host().lines(), is_original) &&
           count <= places_.host().count_at(top + below);
  });
}

/// A new mount is shared if the mount that it is attached to is.
bool Comparison::is_below_shared(const MountLine& line) const {
  const MountLine* const parent = table().with_id(line.parent);
  return config_.rootfs_propagation == linux::Propagation::kShared ||
         (parent != nullptr && propagation_of(*parent) == "shared");
}

/// Whether the document masks the point of one of its mounts, or makes it read-only.
bool Comparison::is_covered(const std::string& point) const {
  const auto is_point = [&](const RootfsPath& path) {
    return places_.resolved(clean(path)) == point;
  };
  return std::ranges::any_of(config_.masked_paths, is_point) ||
         std::ranges::any_of(config_.readonly_paths, is_point);
}

}  // namespace

Rows inspect_mounts(const Subject& subject) {
  const auto text = subject.read("mountinfo");
  const auto host = linux::read_mountinfo(subject.procfs);
  const auto root = linux::sys::openat(subject.procfs.fd(), (subject.files + "/root").c_str(),
                                       O_PATH | O_DIRECTORY);
  if (!text) return {{"mounts", "", text.error().message(), Verdict::kUnknown}};
  if (!root) return {{"mounts", "", root.error().message(), Verdict::kUnknown}};
  const Places places(subject.config, MountTable(*text), MountTable(host.value_or("")), *root);
  Rows rows = Comparison(subject, places).run();
  std::ranges::move(inspect_devices(subject.config, places), std::back_inserter(rows));
  return rows;
}

}  // namespace ocirun::runtime
