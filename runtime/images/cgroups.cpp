#include "runtime/images/cgroups.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "linux/base/text.hpp"
#include "runtime/images/directory.hpp"
#include "runtime/images/format.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kMostLevels = 100;  // of nested cgroups
constexpr const char* kName = "cgroup.img";

// Fields of CRIU's messages.
enum Entry : std::uint32_t { kSets = 1, kControllers = 2 };
enum SetField : std::uint32_t { kMembers = 2 };
enum MemberField : std::uint32_t { kMemberName = 1, kMemberPath = 2, kMemberPrefix = 3 };
enum ControllerField : std::uint32_t { kControllerNames = 1, kDirectories = 2 };
enum DirectoryField : std::uint32_t {
  kDirectoryName = 1,
  kChildren = 2,
  kProperties = 3,
  kDirectoryRights = 4
};
enum PropertyField : std::uint32_t { kPropertyName = 1, kPropertyRights = 3 };
enum RightsField : std::uint32_t { kMode = 1, kUid = 2, kGid = 3 };

/// A hierarchy of the image.
struct Hierarchy {
  std::vector<std::string_view> names;  // of its controllers; "" alone: cgroup v2
  std::string_view top;                 // the only cgroup that is not below another one
  bool is_replaced = false;             // by the container's cgroup, because a process was there
};

/// CRIU makes a directory of this name, and gives it to mount(2) as an option: "memory",
/// "name=systemd", "" for cgroup v2.
bool is_controller_name(std::string_view name) {
  constexpr std::string_view kOthers = "_-=.";
  return !name.starts_with('.') && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

/// "a/b" without "." and "..", empty parts, and control characters, at which C ends a text.
bool is_plain_path(std::string_view path) {
  const bool is_visible = std::ranges::all_of(path, [](char c) { return c < 0 || c >= ' '; });
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

class Check {
 public:
  explicit Check(const linux::IdMap& ids) : ids_(ids) {}

  Result<void> run(std::span<const ImageField> entry) {
    TRY(for_each_message_in(entry, kControllers,
                            [&](const ImageMessage& message) { return add(message); }));
    TRY(for_each_message_in(entry, kSets, [&](const ImageMessage& set) {
      return for_each_message_in(set, kMembers,
                                 [&](const ImageMessage& member) { return check_member(member); });
    }));
    for (const Hierarchy& hierarchy : hierarchies_)
      if (!hierarchy.top.empty() && !hierarchy.is_replaced)
        return refuse("the images would make the cgroup {:?}, in which they have no process",
                      hierarchy.top);
    return {};
  }

 private:
  Result<void> add(const ImageMessage& controller) {
    Hierarchy hierarchy;
    for (const ImageField& field : controller) {
      if (field.number != kControllerNames) continue;
      if (!is_controller_name(field.bytes))
        return refuse("{:?} is no name of a controller", field.bytes);
      if (is_known(field.bytes) || (field.bytes.empty() && !hierarchy.names.empty()))
        return refuse("the controller {:?} is there twice", field.bytes);
      hierarchy.names.push_back(field.bytes);
    }
    TRY(for_each_message_in(controller, kDirectories,
                            [&](const ImageMessage& directory) -> Result<void> {
                              if (!hierarchy.top.empty())
                                return refuse("a hierarchy has two cgroups at its top");
                              hierarchy.top = text_in(directory, kDirectoryName);
                              return check_directory(directory, 0);
                            }));
    hierarchies_.push_back(std::move(hierarchy));
    return {};
  }

  bool is_known(std::string_view name) const {
    return std::ranges::any_of(hierarchies_, [&](const Hierarchy& hierarchy) {
      return std::ranges::find(hierarchy.names, name) != hierarchy.names.end();
    });
  }

  Result<void> check_directory(const ImageMessage& directory, int level) const {
    const std::string_view name = text_in(directory, kDirectoryName);
    if (!is_plain_path(name)) return refuse("{:?} is no path of a cgroup", name);
    if (level == kMostLevels) return refuse("more than {} cgroups are nested", kMostLevels);
    TRY(for_each_message_in(directory, kDirectoryRights, [&](const ImageMessage& rights) {
      return check_rights(name, rights);
    }));
    TRY(for_each_message_in(
        directory, kProperties, [&](const ImageMessage& property) -> Result<void> {
          const std::string_view file = text_in(property, kPropertyName);
          if (!is_plain_path(file) || file.find('/') != std::string_view::npos)
            return refuse("{:?} is no file of a cgroup", file);
          // With --manage-cgroups-mode full, criu would write it. It saves devices.list, and does
          // not write that into a cgroup that exists.
          if (file.starts_with("devices.") && file != "devices.list")
            return refuse("{:?}: the device rules are those of config.json", file);
          // criu 3.17 saves this one without the owner, with what was in its memory.
          if (file == "freezer.state") return {};
          return for_each_message_in(property, kPropertyRights, [&](const ImageMessage& rights) {
            return check_rights(file, rights);
          });
        }));
    return for_each_message_in(directory, kChildren, [&](const ImageMessage& child) {
      return check_directory(child, level + 1);
    });
  }

  Result<void> check_rights(std::string_view name, const ImageMessage& rights) const {
    constexpr std::uint64_t kWritableByOthers = 02;
    const std::uint64_t uid = number_in(rights, kUid).value_or(0);
    const std::uint64_t gid = number_in(rights, kGid).value_or(0);
    if ((uid != 0 && !holds(ids_.uids, uid)) || (gid != 0 && !holds(ids_.gids, gid)))
      return refuse("{:?} belongs to {}:{}, who is not of the container", name, uid, gid);
    const std::uint64_t mode = number_in(rights, kMode).value_or(0);
    if ((mode & kWritableByOthers) != 0)
      return refuse("{:?} has the mode {:04o}: others must not be able to write to it", name, mode);
    return {};
  }

  /// CRIU replaces the beginning of the path where it is the name of the hierarchy's top.
  Result<void> check_member(const ImageMessage& member) {
    const std::string_view name = text_in(member, kMemberName);
    std::string_view path = text_in(member, kMemberPath);
    const auto names = linux::split(name, ',');
    const auto found = std::ranges::find_if(hierarchies_, [&](const Hierarchy& hierarchy) {
      return std::ranges::is_permutation(hierarchy.names, names);
    });
    const auto refusal = [&, whole = path] {
      return refuse("a process is in the cgroup {:?} of {:?}, which is not below that of init",
                    whole, name);
    };
    if (found == hierarchies_.end() || found->top.empty() || !path.starts_with('/'))
      return refusal();
    path.remove_prefix(1);
    const std::uint64_t prefix = number_in(member, kMemberPrefix).value_or(0);
    const bool is_below =
        path == found->top || (path.starts_with(found->top) && path[found->top.size()] == '/');
    if (!is_below || !is_plain_path(path) || (prefix != 0 && prefix != found->top.size() + 1))
      return refusal();
    found->is_replaced = true;
    return {};
  }

  const linux::IdMap& ids_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace

Result<void> check_cgroup_image(std::string_view image, const linux::IdMap& ids) {
  TRY_ASSIGN(const auto entries, parse_image(image, ImageKind::kCgroups));
  for (const ImageMessage& entry : entries) TRY(Check(ids).run(entry));
  return {};
}

Result<void> check_cgroup_images(Fd images, const linux::IdMap& ids) {
  TRY_ASSIGN(const auto image, read_if_there(images, kName, kMostImageBytes));
  if (!image) return {};
  return within(check_cgroup_image(*image, ids), kName);
}

}  // namespace ocirun::runtime
