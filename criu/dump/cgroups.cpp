#include "criu/dump/cgroups.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "criu/dump/directory.hpp"
#include "criu/dump/format.hpp"
#include "criu/dump/proto.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kMostLevels = 100;  // of nested cgroups
constexpr const char* kCgroupsImage = "cgroup.img";

Result<std::vector<ImageRights>> read_rights(const ImageMessage& message, std::uint32_t field) {
  std::vector<ImageRights> rights;
  OCIRUN_TRY(for_each_message_in(message, field, [&](const ImageMessage& one) -> Result<void> {
    rights.push_back({.mode = number_in(one, proto("cgroup_perms.mode")).value_or(0),
                      .uid = number_in(one, proto("cgroup_perms.uid")).value_or(0),
                      .gid = number_in(one, proto("cgroup_perms.gid")).value_or(0)});
    return {};
  }));
  return rights;
}

Result<ImageCgroup> read_cgroup(const ImageMessage& message, int level) {
  if (level == kMostLevels) return refuse("more than {} cgroups are nested", kMostLevels);
  ImageCgroup cgroup{.path = std::string(text_in(message, proto("cgroup_dir_entry.dir_name")))};
  OCIRUN_TRY_ASSIGN(cgroup.rights, read_rights(message, proto("cgroup_dir_entry.dir_perms")));
  OCIRUN_TRY(for_each_message_in(
      message, proto("cgroup_dir_entry.properties"), [&](const ImageMessage& file) -> Result<void> {
        OCIRUN_TRY_ASSIGN(auto rights, read_rights(file, proto("cgroup_prop_entry.perms")));
        cgroup.files.push_back({.name = std::string(text_in(file, proto("cgroup_prop_entry.name"))),
                                .rights = std::move(rights)});
        return {};
      }));
  OCIRUN_TRY(for_each_message_in(
      message, proto("cgroup_dir_entry.children"), [&](const ImageMessage& child) -> Result<void> {
        OCIRUN_TRY_ASSIGN(ImageCgroup read, read_cgroup(child, level + 1));
        cgroup.children.push_back(std::move(read));
        return {};
      }));
  return cgroup;
}

Result<ImageHierarchy> read_hierarchy(const ImageMessage& message) {
  ImageHierarchy hierarchy;
  for (const ImageField& field : message)
    if (field.number == proto("cg_controller_entry.cnames"))
      hierarchy.controllers.emplace_back(field.bytes);
  OCIRUN_TRY(for_each_message_in(message, proto("cg_controller_entry.dirs"),
                                 [&](const ImageMessage& top) -> Result<void> {
                                   OCIRUN_TRY_ASSIGN(ImageCgroup read, read_cgroup(top, 0));
                                   hierarchy.tops.push_back(std::move(read));
                                   return {};
                                 }));
  return hierarchy;
}

ImageMember member_of(const ImageMessage& message) {
  return {.controllers = std::string(text_in(message, proto("cg_member_entry.name"))),
          .path = std::string(text_in(message, proto("cg_member_entry.path"))),
          .prefix = number_in(message, proto("cg_member_entry.cgns_prefix")).value_or(0)};
}

Result<ImageCgroups> read_entry(const ImageMessage& entry) {
  ImageCgroups cgroups;
  OCIRUN_TRY(for_each_message_in(entry, proto("cgroup_entry.controllers"),
                                 [&](const ImageMessage& controller) -> Result<void> {
                                   OCIRUN_TRY_ASSIGN(ImageHierarchy read,
                                                     read_hierarchy(controller));
                                   cgroups.hierarchies.push_back(std::move(read));
                                   return {};
                                 }));
  OCIRUN_TRY(for_each_message_in(entry, proto("cgroup_entry.sets"), [&](const ImageMessage& set) {
    return for_each_message_in(set, proto("cg_set_entry.ctls"),
                               [&](const ImageMessage& member) -> Result<void> {
                                 cgroups.members.push_back(member_of(member));
                                 return {};
                               });
  }));
  return cgroups;
}

/// Whether `name` is safe: "memory", "name=systemd", or "" for cgroup v2. CRIU makes a directory of
/// this name, and gives the name to mount(2) as an option.
bool is_controller_name(std::string_view name) {
  constexpr std::string_view kOthers = "_-=.";
  return !name.starts_with('.') && std::ranges::all_of(name, [&](char c) {
    return linux::is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos;
  });
}

/// Whether `path` is like "a/b", without ".", "..", empty parts and control characters. A NUL would
/// be the end of the path for CRIU.
bool is_plain_path(std::string_view path) {
  const bool is_visible = std::ranges::all_of(path, [](unsigned char c) { return c >= ' '; });
  if (!is_visible || path.empty()) return false;
  return std::ranges::all_of(linux::split(path, '/'), [](std::string_view part) {
    return !part.empty() && part != "." && part != "..";
  });
}

bool holds(const std::vector<linux::IdMapping>& map, std::uint64_t host_id) {
  return std::ranges::any_of(map, [&](const linux::IdMapping& line) {
    return host_id >= line.host_id && host_id - line.host_id < line.size;
  });
}

/// A hierarchy of the images that add() has checked.
struct CheckedHierarchy {
  const std::vector<std::string>& controllers;
  std::string_view top;      // the only topmost cgroup, or ""
  bool is_replaced = false;  // CRIU replaces `top`, because a process was in `top` or below
};

class CgroupCheck {
 public:
  explicit CgroupCheck(const linux::IdMap& ids) : ids_(ids) {}

  Result<void> run(const ImageCgroups& cgroups) {
    for (const ImageHierarchy& hierarchy : cgroups.hierarchies) OCIRUN_TRY(add(hierarchy));
    for (const ImageMember& member : cgroups.members) OCIRUN_TRY(check_member(member));
    for (const CheckedHierarchy& hierarchy : hierarchies_)
      if (!hierarchy.top.empty() && !hierarchy.is_replaced)
        return refuse("the images would make the cgroup {:?}, in which they have no process",
                      hierarchy.top);
    return {};
  }

 private:
  Result<void> add(const ImageHierarchy& hierarchy) {
    const std::vector<std::string>& names = hierarchy.controllers;
    for (const std::string& name : names) {
      if (!is_controller_name(name)) return refuse("{:?} is no name of a controller", name);
      if (is_known(name) || (name.empty() && &name != &names.front()))
        return refuse("the controller {:?} is there twice", name);
    }
    if (hierarchy.tops.size() > 1) return refuse("a hierarchy has two cgroups at its top");
    CheckedHierarchy checked{.controllers = names, .top = {}};
    if (!hierarchy.tops.empty()) {
      checked.top = hierarchy.tops.front().path;
      OCIRUN_TRY(check_cgroup(hierarchy.tops.front()));
    }
    hierarchies_.push_back(checked);
    return {};
  }

  bool is_known(std::string_view name) const {
    return std::ranges::any_of(hierarchies_, [&](const CheckedHierarchy& hierarchy) {
      return std::ranges::find(hierarchy.controllers, name) != hierarchy.controllers.end();
    });
  }

  Result<void> check_cgroup(const ImageCgroup& cgroup) const {
    if (!is_plain_path(cgroup.path)) return refuse("{:?} is no path of a cgroup", cgroup.path);
    OCIRUN_TRY(check_rights(cgroup.path, cgroup.rights));
    for (const ImageCgroupFile& file : cgroup.files) OCIRUN_TRY(check_file(file));
    for (const ImageCgroup& child : cgroup.children) OCIRUN_TRY(check_cgroup(child));
    return {};
  }

  Result<void> check_file(const ImageCgroupFile& file) const {
    if (!is_plain_path(file.name) || file.name.contains('/'))
      return refuse("{:?} is no file of a cgroup", file.name);
    // With --manage-cgroups-mode full, criu would write files such as devices.allow. criu saves
    // devices.list, but does not write devices.list into a cgroup that exists.
    if (file.name.starts_with("devices.") && file.name != "devices.list")
      return refuse("{:?}: the device rules are those of config.json", file.name);
    // criu 3.17 saves uninitialized memory as the owner and mode of freezer.state.
    if (file.name == "freezer.state") return {};
    return check_rights(file.name, file.rights);
  }

  Result<void> check_rights(std::string_view name, const std::vector<ImageRights>& rights) const {
    constexpr std::uint64_t kWritableByOthers = 02;
    for (const auto& [mode, uid, gid] : rights) {
      if ((uid != 0 && !holds(ids_.uids, uid)) || (gid != 0 && !holds(ids_.gids, gid)))
        return refuse("{:?} belongs to {}:{}, who is not of the container", name, uid, gid);
      if ((mode & kWritableByOthers) != 0)
        return refuse("{:?} has the mode {:04o}: others must not be able to write to it", name,
                      mode);
    }
    return {};
  }

  /// Checks that CRIU will replace the beginning of the path by the cgroup of the container. CRIU
  /// does so only if the beginning is the path of the topmost cgroup of the hierarchy.
  Result<void> check_member(const ImageMember& member) {
    const auto names = linux::split(member.controllers, ',');
    const auto found = std::ranges::find_if(hierarchies_, [&](const CheckedHierarchy& hierarchy) {
      return std::ranges::is_permutation(hierarchy.controllers, names);
    });
    const auto refusal = [&] {
      return refuse("a process is in the cgroup {:?} of {:?}, which is not below that of init",
                    member.path, member.controllers);
    };
    std::string_view path = member.path;
    if (found == hierarchies_.end() || found->top.empty() || !path.starts_with('/'))
      return refusal();
    path.remove_prefix(1);
    const bool is_below =
        path == found->top || (path.starts_with(found->top) && path[found->top.size()] == '/');
    const bool has_prefix = member.prefix == 0 || member.prefix == found->top.size() + 1;
    if (!is_below || !is_plain_path(path) || !has_prefix) return refusal();
    found->is_replaced = true;
    return {};
  }

  const linux::IdMap& ids_;
  std::vector<CheckedHierarchy> hierarchies_;
};

}  // namespace

Result<std::vector<ImageCgroups>> parse_image_cgroups(std::string_view image) {
  OCIRUN_TRY_ASSIGN(const auto entries, parse_image(image, ImageKind::kCgroups));
  std::vector<ImageCgroups> cgroups;
  for (const ImageMessage& entry : entries) {
    OCIRUN_TRY_ASSIGN(ImageCgroups read, read_entry(entry));
    cgroups.push_back(std::move(read));
  }
  return cgroups;
}

Result<std::vector<ImageCgroups>> read_image_cgroups(Fd images) {
  OCIRUN_TRY_ASSIGN(const auto image, read_if_there(images, kCgroupsImage, kMostImageBytes));
  if (!image) return std::vector<ImageCgroups>();
  return within(parse_image_cgroups(*image), kCgroupsImage);
}

Result<void> check_image_cgroups(const std::vector<ImageCgroups>& cgroups,
                                 const linux::IdMap& ids) {
  for (const ImageCgroups& entry : cgroups)
    OCIRUN_TRY(within(CgroupCheck(ids).run(entry), kCgroupsImage));
  return {};
}

}  // namespace ocirun::runtime
