#include "criu/dump/images.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "criu/dump/cgroups.hpp"
#include "criu/dump/directory.hpp"
#include "criu/dump/files.hpp"
#include "criu/dump/format.hpp"
#include "criu/dump/proto.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

constexpr const char* kProcessesImage = "pstree.img";

using linux::NamespaceKind;

// The text of an image, and the messages in the text. The messages are views into `text`. `text` is
// on the heap, because a move of a short std::string moves the bytes.
struct Image {
  std::unique_ptr<const std::string> text;
  std::vector<ImageMessage> entries;
};

Result<Image> read_image(Fd images, const std::string& name, ImageKind kind) {
  Image image;
  OCIRUN_TRY_ASSIGN(std::string text,
                    within(linux::read_file(images, name, kMostImageBytes, O_NOFOLLOW), name));
  image.text = std::make_unique<const std::string>(std::move(text));
  OCIRUN_TRY_ASSIGN(image.entries, within(parse_image(*image.text, kind), name));
  if (image.entries.empty()) return fail(EBADMSG, "{}: the image is empty", name);
  return image;
}

// The names that mount(2) has for CRIU's types of file systems.
constexpr linux::Named<std::uint32_t> kMountTypes[] = {{"proc", proto("fstype.PROC")},
                                                       {"sysfs", proto("fstype.SYSFS")},
                                                       {"devtmpfs", proto("fstype.DEVTMPFS")},
                                                       {"binfmt_misc", proto("fstype.BINFMT_MISC")},
                                                       {"tmpfs", proto("fstype.TMPFS")},
                                                       {"devpts", proto("fstype.DEVPTS")},
                                                       {"simfs", proto("fstype.SIMFS")},
                                                       {"pstore", proto("fstype.PSTORE")},
                                                       {"securityfs", proto("fstype.SECURITYFS")},
                                                       {"fusectl", proto("fstype.FUSECTL")},
                                                       {"debugfs", proto("fstype.DEBUGFS")},
                                                       {"cgroup", proto("fstype.CGROUP")},
                                                       {"aufs", proto("fstype.AUFS")},
                                                       {"mqueue", proto("fstype.MQUEUE")},
                                                       {"fuse", proto("fstype.FUSE")},
                                                       {"overlay", proto("fstype.OVERLAYFS")},
                                                       {"autofs", proto("fstype.AUTOFS")},
                                                       {"tracefs", proto("fstype.TRACEFS")},
                                                       {"cgroup2", proto("fstype.CGROUP2")}};
constexpr linux::Named<std::uint64_t> kMachines[] = {
    {"x86_64", proto("core_entry.march.X86_64")},   {"arm", proto("core_entry.march.ARM")},
    {"aarch64", proto("core_entry.march.AARCH64")}, {"ppc64le", proto("core_entry.march.PPC64")},
    {"s390x", proto("core_entry.march.S390")},      {"mips64", proto("core_entry.march.MIPS")}};

std::uint32_t small(std::optional<std::uint64_t> value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(value.value_or(0), kMost));
}

std::string type_of(const ImageMessage& mount) {
  const std::uint32_t type = word_in(mount, proto("mnt_entry.fstype"));
  if (type == proto("fstype.UNSUPPORTED")) return {};
  if (type == proto("fstype.AUTO")) return std::string(text_in(mount, proto("mnt_entry.fsname")));
  const std::string_view name = linux::name_of(kMountTypes, type);
  return name.empty() ? fmt::format("type {}", type) : std::string(name);
}

// Refuses a text with a NUL, because CRIU would read the text only up to the NUL.
Result<void> check_texts(const ImageMessage& mount) {
  for (const ImageField& field : mount)
    if (field.bytes.contains('\0'))
      return fail(EBADMSG, "field {} of a mount holds a NUL", field.number);
  return {};
}

ImageMount mount_of(const ImageMessage& mount) {
  std::string_view point = text_in(mount, proto("mnt_entry.mountpoint"));
  if (point.starts_with("./") || point == ".") point.remove_prefix(1);
  return {.id = word_in(mount, proto("mnt_entry.mnt_id")),
          .parent = word_in(mount, proto("mnt_entry.parent_mnt_id")),
          .device = word_in(mount, proto("mnt_entry.root_dev")),
          .flags = word_in(mount, proto("mnt_entry.flags")),
          .superblock_flags = word_in(mount, proto("mnt_entry.sb_flags")),
          .point = fmt::format("{}{}", point.starts_with('/') ? "" : "/", point),
          .root = std::string(text_in(mount, proto("mnt_entry.root"))),
          .type = type_of(mount),
          .source = std::string(text_in(mount, proto("mnt_entry.source"))),
          .options = std::string(text_in(mount, proto("mnt_entry.options"))),
          .external = std::string(text_in(mount, proto("mnt_entry.ext_key"))),
          .is_deleted = number_in(mount, proto("mnt_entry.deleted")).value_or(0) != 0};
}

Result<std::vector<ImageMount>> read_mounts(Fd images, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const Image image, read_image(images, name, ImageKind::kMounts));
  std::vector<ImageMount> mounts;
  for (const ImageMessage& mount : image.entries) {
    OCIRUN_TRY(within(check_texts(mount), name));
    mounts.push_back(mount_of(mount));
  }
  return mounts;
}

// Marks the root mount of the container. The parent of the root mount is not one
// of the other mounts in `mounts`.
void mark_root(std::vector<ImageMount>& mounts) {
  std::unordered_set<std::uint32_t> ids;
  for (const ImageMount& mount : mounts) ids.insert(mount.id);
  for (ImageMount& mount : mounts)
    mount.is_containers_root = mount.parent == mount.id || !ids.contains(mount.parent);
}

Result<std::vector<linux::IdMapping>> mappings_of(const ImageMessage& entry, std::uint32_t field) {
  std::vector<linux::IdMapping> mappings;
  for (const ImageField& part : entry) {
    if (part.number != field) continue;
    OCIRUN_TRY_ASSIGN(const ImageMessage extent, parse_image_message(part.bytes));
    mappings.push_back({.container_id = small(number_in(extent, proto("uid_gid_extent.first"))),
                        .host_id = small(number_in(extent, proto("uid_gid_extent.lower_first"))),
                        .size = small(number_in(extent, proto("uid_gid_extent.count")))});
  }
  return mappings;
}

Result<int> pid_of(std::uint64_t value) {
  constexpr std::uint64_t kMost = 4'194'304;  // PID_MAX_LIMIT of the kernel
  if (value > 0 && value <= kMost) return static_cast<int>(value);
  return fail(EBADMSG, "{} is no number of a process: these are 1 to {}", value, kMost);
}

// Whether CRIU makes the process with its threads. For a zombie, CRIU writes one thread with an
// uninitialized number.
Result<bool> is_alive(const ImageMessage& core) {
  constexpr std::uint32_t kAlive = 1, kStopped = 3;
  OCIRUN_TRY_ASSIGN(const ImageMessage task, message_in(core, proto("core_entry.tc")));
  const std::uint32_t state = word_in(task, proto("task_core_entry.task_state"));
  return state == kAlive || state == kStopped;
}

Result<void> read_process(Fd images, const ImageMessage& message, Images& read) {
  const auto number = number_in(message, proto("pstree_entry.pid"));
  OCIRUN_TRY_ASSIGN(const int pid, within(pid_of(number.value_or(0)), kProcessesImage));
  OCIRUN_TRY_ASSIGN(const Image image,
                    read_image(images, fmt::format("core-{}.img", pid), ImageKind::kCore));
  const ImageMessage& core = image.entries.front();
  if (read.processes.empty())
    read.machine =
        linux::name_of(kMachines, number_in(core, proto("core_entry.mtype")).value_or(0));
  ImageProcess process{.pid = pid};
  OCIRUN_TRY_ASSIGN(const bool has_threads, is_alive(core));
  for (const ImageField& field : message) {
    if (field.number != proto("pstree_entry.threads") || !has_threads) continue;
    OCIRUN_TRY_ASSIGN(const int thread, within(pid_of(field.value), kProcessesImage));
    process.threads.push_back(thread);
  }
  read.processes.push_back(std::move(process));
  return {};
}

// The fields of task_kobj_ids_entry with the ids of a process's namespaces.
constexpr std::pair<NamespaceKind, std::uint32_t> kNamespaceFields[] = {
    {NamespaceKind::kPid, proto("task_kobj_ids_entry.pid_ns_id")},
    {NamespaceKind::kNetwork, proto("task_kobj_ids_entry.net_ns_id")},
    {NamespaceKind::kIpc, proto("task_kobj_ids_entry.ipc_ns_id")},
    {NamespaceKind::kUts, proto("task_kobj_ids_entry.uts_ns_id")},
    {NamespaceKind::kMount, proto("task_kobj_ids_entry.mnt_ns_id")},
    {NamespaceKind::kUser, proto("task_kobj_ids_entry.user_ns_id")},
    {NamespaceKind::kCgroup, proto("task_kobj_ids_entry.cgroup_ns_id")},
    {NamespaceKind::kTime, proto("task_kobj_ids_entry.time_ns_id")}};

// The kinds for which the process and criu were in different namespaces at the checkpoint.
Result<std::vector<NamespaceKind>> own_namespaces(const ImageMessage& inventory,
                                                  const ImageMessage& ids) {
  OCIRUN_TRY_ASSIGN(const ImageMessage ids_of_criu,
                    message_in(inventory, proto("inventory_entry.root_ids")));
  std::vector<NamespaceKind> own;
  for (const auto& [kind, field] : kNamespaceFields)
    if (word_in(ids, field) != word_in(ids_of_criu, field)) own.push_back(kind);
  return own;
}

bool exists(Fd images, const char* name) { return linux::sys::fstatat(images, name).has_value(); }

Result<void> check_kind_of_directory(Fd images) {
  if (!exists(images, "inventory.img"))
    return refuse(
        "there is no inventory.img: the directory holds no images of criu: give the one that "
        "checkpoint has written");
  if (!exists(images, kProcessesImage))
    return refuse(
        "there is no pstree.img: these are the images of a pre-dump, which has the memory alone: "
        "give the images of the dump that followed");
  return {};
}

Result<void> read_processes(Fd images, Images& read) {
  OCIRUN_TRY_ASSIGN(const Image tree, read_image(images, kProcessesImage, ImageKind::kProcesses));
  for (const ImageMessage& message : tree.entries) OCIRUN_TRY(read_process(images, message, read));
  return {};
}

Result<void> read_id_map(Fd images, const std::string& name, Images& read) {
  if (!exists(images, name.c_str())) return {};
  OCIRUN_TRY_ASSIGN(const Image image, read_image(images, name, ImageKind::kUserNamespace));
  linux::IdMap& map = read.id_map.emplace();
  OCIRUN_TRY_ASSIGN(map.uids, mappings_of(image.entries.front(), proto("userns_entry.uid_map")));
  OCIRUN_TRY_ASSIGN(map.gids, mappings_of(image.entries.front(), proto("userns_entry.gid_map")));
  return {};
}

// Returns the name of the image with the mounts of the first process.
Result<std::string> read_namespaces(Fd images, Images& read) {
  OCIRUN_TRY_ASSIGN(const Image top, read_image(images, "inventory.img", ImageKind::kInventory));
  OCIRUN_TRY_ASSIGN(
      const Image image,
      read_image(images, fmt::format("ids-{}.img", read.processes.front().pid), ImageKind::kIds));
  const ImageMessage& ids = image.entries.front();
  OCIRUN_TRY_ASSIGN(read.own_namespaces, own_namespaces(top.entries.front(), ids));
  std::string mounts =
      fmt::format("mountpoints-{}.img", word_in(ids, proto("task_kobj_ids_entry.mnt_ns_id")));
  OCIRUN_TRY_ASSIGN(read.mounts, read_mounts(images, mounts));
  mark_root(read.mounts);
  const std::uint32_t user_namespace = word_in(ids, proto("task_kobj_ids_entry.user_ns_id"));
  OCIRUN_TRY(read_id_map(images, fmt::format("userns-{}.img", user_namespace), read));
  return mounts;
}

Result<void> read_other_mounts(Fd images, std::string_view without, Images& read) {
  return for_each_image(images, "mountpoints-", [&](const char* name) -> Result<void> {
    if (name == without) return {};
    OCIRUN_TRY_ASSIGN(auto mounts, read_mounts(images, name));
    std::ranges::move(mounts, std::back_inserter(read.other_mounts));
    return {};
  });
}

Result<bool> has_apparmor_policies(Fd images) {
  constexpr const char* kPoliciesImage = "apparmor.img";
  OCIRUN_TRY_ASSIGN(const auto image, read_if_there(images, kPoliciesImage, kMostImageBytes));
  if (!image) return false;
  OCIRUN_TRY_ASSIGN(const auto entries,
                    within(parse_image(*image, ImageKind::kAppArmor), kPoliciesImage));
  return !std::ranges::all_of(entries, &ImageMessage::empty);
}

Result<Images> read(Fd images, TrustImages trust, SavedCgroups cgroups) {
  OCIRUN_TRY(check_kind_of_directory(images));
  Images read;
  OCIRUN_TRY(read_processes(images, read));
  OCIRUN_TRY_ASSIGN(const std::string mounts, read_namespaces(images, read));
  read.has_cpu_features = exists(images, "cpuinfo.img");
  OCIRUN_TRY(for_each_image(images, "netdev-", [&](const char*) -> Result<void> {
    read.has_network_devices = true;
    return {};
  }));
  if (trust == TrustImages::kYes) return read;
  OCIRUN_TRY(read_other_mounts(images, mounts, read));
  OCIRUN_TRY_ASSIGN(read.files, read_image_files(images));
  if (cgroups == SavedCgroups::kMade) {
    OCIRUN_TRY_ASSIGN(read.cgroups, read_image_cgroups(images));
  }
  OCIRUN_TRY_ASSIGN(read.has_apparmor_policies, has_apparmor_policies(images));
  return read;
}

}  // namespace

Result<Images> read_images(Fd images, TrustImages trust, SavedCgroups cgroups) {
  auto found = read(images, trust, cgroups);
  if (found || (found.error().number() != ENOENT && found.error().number() != EBADMSG))
    return found;
  return within(std::move(found),
                "the images are incomplete or damaged (copy them again, with the directories of "
                "all pre-dumps)");
}

std::vector<ImageMount> all_mounts(const Images& images) {
  std::vector<ImageMount> mounts = images.mounts;
  std::ranges::copy(images.other_mounts, std::back_inserter(mounts));
  return mounts;
}

}  // namespace ocirun::runtime
