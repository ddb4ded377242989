#include "runtime/images/inventory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"
#include "runtime/images/directory.hpp"
#include "runtime/images/format.hpp"

namespace ocirun::runtime {
namespace {

constexpr const char* kProcessesImage = "pstree.img";

using linux::NamespaceKind;

// An image with the views into it. A short string would take its bytes along when it is moved.
struct Image {
  std::unique_ptr<const std::string> text;
  std::vector<ImageMessage> entries;
};

Result<Image> read_image(Fd images, const std::string& name, ImageKind kind) {
  Image image;
  TRY_ASSIGN(std::string text,
             within(linux::read_file(images, name, kMostImageBytes, O_NOFOLLOW), name));
  image.text = std::make_unique<const std::string>(std::move(text));
  TRY_ASSIGN(image.entries, within(parse_image(*image.text, kind), name));
  if (image.entries.empty()) return fail(EBADMSG, "{}: the image is empty", name);
  return image;
}

// The numbers of criu's `fstype`, as mount(2) calls these file systems.
constexpr linux::Named<std::uint32_t> kTypes[] = {
    {"proc", 1},     {"sysfs", 2},   {"devtmpfs", 3}, {"binfmt_misc", 4}, {"tmpfs", 5},
    {"devpts", 6},   {"simfs", 7},   {"pstore", 8},   {"securityfs", 9},  {"fusectl", 10},
    {"debugfs", 11}, {"cgroup", 12}, {"aufs", 13},    {"mqueue", 14},     {"fuse", 15},
    {"overlay", 17}, {"autofs", 18}, {"tracefs", 19}, {"cgroup2", 23}};
constexpr linux::Named<std::uint64_t> kMachines[] = {{"x86_64", 1},  {"arm", 2},   {"aarch64", 3},
                                                     {"ppc64le", 4}, {"s390x", 5}, {"mips64", 6}};

// Fields of CRIU's messages.
enum MountField : std::uint32_t {
  kType = 1,
  kId = 2,
  kDevice = 3,
  kParent = 4,
  kFlags = 5,
  kRoot = 6,
  kPoint = 7,
  kSource = 8,
  kOptions = 9,
  kTypeName = 14,
  kDeleted = 16,
  kSuperblockFlags = 17,
  kExternal = 18
};
enum ExtentField : std::uint32_t { kContainerId = 1, kHostId = 2, kSize = 3 };
enum UserNamespaceField : std::uint32_t { kUidMap = 1, kGidMap = 2 };
enum InventoryField : std::uint32_t { kIdsOfCriu = 3 };
enum ProcessField : std::uint32_t { kPid = 1, kThread = 5 };
enum CoreField : std::uint32_t { kMachine = 1, kTask = 3 };
enum TaskField : std::uint32_t { kState = 1 };

std::uint32_t small(std::optional<std::uint64_t> value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(value.value_or(0), kMost));
}

std::string type_of(const ImageMessage& mount) {
  constexpr std::uint32_t kUnsupported = 0;
  constexpr std::uint32_t kAuto = 16;  // the type has the name in the field fsname
  const std::uint32_t type = word_in(mount, kType);
  if (type == kUnsupported) return {};
  if (type == kAuto) return std::string(text_in(mount, kTypeName));
  const std::string_view name = linux::name_of(kTypes, type);
  return name.empty() ? fmt::format("type {}", type) : std::string(name);
}

// CRIU reads a text up to its first NUL.
Result<void> check_texts(const ImageMessage& mount) {
  for (const ImageField& field : mount)
    if (field.bytes.contains('\0'))
      return fail(EBADMSG, "field {} of a mount holds a NUL", field.number);
  return {};
}

ImageMount mount_of(const ImageMessage& mount) {
  std::string_view point = text_in(mount, kPoint);
  if (point.starts_with("./") || point == ".") point.remove_prefix(1);
  return {.id = word_in(mount, kId),
          .parent = word_in(mount, kParent),
          .device = word_in(mount, kDevice),
          .flags = word_in(mount, kFlags),
          .superblock_flags = word_in(mount, kSuperblockFlags),
          .point = fmt::format("{}{}", point.starts_with('/') ? "" : "/", point),
          .root = std::string(text_in(mount, kRoot)),
          .type = type_of(mount),
          .source = std::string(text_in(mount, kSource)),
          .options = std::string(text_in(mount, kOptions)),
          .external = std::string(text_in(mount, kExternal)),
          .is_deleted = number_in(mount, kDeleted).value_or(0) != 0};
}

Result<std::vector<ImageMount>> read_mounts(Fd images, const std::string& name) {
  TRY_ASSIGN(const Image image, read_image(images, name, ImageKind::kMounts));
  std::vector<ImageMount> mounts;
  for (const ImageMessage& mount : image.entries) {
    TRY(within(check_texts(mount), name));
    mounts.push_back(mount_of(mount));
  }
  return mounts;
}

// The container's root is on no other mount of its namespace.
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
    TRY_ASSIGN(const ImageMessage extent, parse_image_message(part.bytes));
    mappings.push_back({.container_id = small(number_in(extent, kContainerId)),
                        .host_id = small(number_in(extent, kHostId)),
                        .size = small(number_in(extent, kSize))});
  }
  return mappings;
}

Result<int> pid_of(std::uint64_t value) {
  constexpr std::uint64_t kMost = 4'194'304;  // PID_MAX_LIMIT of the kernel
  if (value > 0 && value <= kMost) return static_cast<int>(value);
  return fail(EBADMSG, "{} is no number of a process: these are 1 to {}", value, kMost);
}

Result<Image> read_core(Fd images, int pid) {
  return read_image(images, fmt::format("core-{}.img", pid), ImageKind::kCore);
}

// Whether CRIU makes the process with its threads. For a zombie, CRIU writes one thread with an
// uninitialized number.
Result<bool> is_alive(const ImageMessage& core) {
  constexpr std::uint32_t kAlive = 1, kStopped = 3;
  TRY_ASSIGN(const ImageMessage task, message_in(core, kTask));
  const std::uint32_t state = word_in(task, kState);
  return state == kAlive || state == kStopped;
}

Result<ImageProcess> read_process(Fd images, const ImageMessage& message) {
  ImageProcess process;
  TRY_ASSIGN(process.pid, within(pid_of(number_in(message, kPid).value_or(0)), kProcessesImage));
  TRY_ASSIGN(const Image core, read_core(images, process.pid));
  TRY_ASSIGN(const bool has_threads, is_alive(core.entries.front()));
  for (const ImageField& field : message) {
    if (field.number != kThread || !has_threads) continue;
    TRY_ASSIGN(const int thread, within(pid_of(field.value), kProcessesImage));
    process.threads.push_back(thread);
  }
  return process;
}

// The fields of a process that number its namespaces.
constexpr std::pair<NamespaceKind, std::uint32_t> kNamespaceFields[] = {
    {NamespaceKind::kPid, 5},     {NamespaceKind::kNetwork, 6}, {NamespaceKind::kIpc, 7},
    {NamespaceKind::kUts, 8},     {NamespaceKind::kMount, 9},   {NamespaceKind::kUser, 10},
    {NamespaceKind::kCgroup, 11}, {NamespaceKind::kTime, 12}};

std::uint32_t field_of(NamespaceKind kind) {
  return std::ranges::find(kNamespaceFields, kind, &std::pair<NamespaceKind, std::uint32_t>::first)
      ->second;
}

// The namespaces of a process with another number than that of criu's own.
Result<std::vector<NamespaceKind>> own_namespaces(const ImageMessage& inventory,
                                                  const ImageMessage& ids) {
  TRY_ASSIGN(const ImageMessage crius, message_in(inventory, kIdsOfCriu));
  std::vector<NamespaceKind> own;
  for (const auto& [kind, field] : kNamespaceFields)
    if (word_in(ids, field) != word_in(crius, field)) own.push_back(kind);
  return own;
}

bool exists(Fd images, const char* name) { return linux::sys::fstatat(images, name).has_value(); }

}  // namespace

Result<ImageInventory> read_inventory(Fd images) {
  if (!exists(images, "inventory.img"))
    return refuse(
        "there is no inventory.img: the directory holds no images of criu: give the one that "
        "checkpoint has written");
  if (!exists(images, kProcessesImage))
    return refuse(
        "there is no pstree.img: these are the images of a pre-dump, which has the memory alone: "
        "give the images of the dump that followed");
  TRY_ASSIGN(const Image top, read_image(images, "inventory.img", ImageKind::kInventory));
  TRY_ASSIGN(const Image tree, read_image(images, kProcessesImage, ImageKind::kProcesses));
  ImageInventory inventory;
  for (const ImageMessage& process : tree.entries) {
    TRY_ASSIGN(ImageProcess read, read_process(images, process));
    inventory.processes.push_back(std::move(read));
  }
  const int first = inventory.processes.front().pid;
  TRY_ASSIGN(const Image core, read_core(images, first));
  inventory.machine =
      linux::name_of(kMachines, number_in(core.entries.front(), kMachine).value_or(0));
  TRY_ASSIGN(const Image ids,
             read_image(images, fmt::format("ids-{}.img", first), ImageKind::kIds));
  TRY_ASSIGN(inventory.own_namespaces, own_namespaces(top.entries.front(), ids.entries.front()));
  inventory.mounts_image = fmt::format(
      "mountpoints-{}.img", word_in(ids.entries.front(), field_of(NamespaceKind::kMount)));
  const std::uint32_t user_namespace = word_in(ids.entries.front(), field_of(NamespaceKind::kUser));
  TRY_ASSIGN(inventory.mounts, read_mounts(images, inventory.mounts_image));
  mark_root(inventory.mounts);
  const std::string maps = fmt::format("userns-{}.img", user_namespace);
  if (exists(images, maps.c_str())) {
    TRY_ASSIGN(const Image image, read_image(images, maps, ImageKind::kUserNamespace));
    linux::IdMap& map = inventory.id_map.emplace();
    TRY_ASSIGN(map.uids, mappings_of(image.entries.front(), kUidMap));
    TRY_ASSIGN(map.gids, mappings_of(image.entries.front(), kGidMap));
  }
  inventory.has_cpu_features = exists(images, "cpuinfo.img");
  return inventory;
}

Result<std::vector<ImageMount>> read_all_mounts(Fd images, std::string_view without) {
  std::vector<ImageMount> mounts;
  TRY(for_each_image(images, "mountpoints-", [&](const char* name) -> Result<void> {
    if (name == without) return {};
    TRY_ASSIGN(auto read, read_mounts(images, name));
    std::ranges::move(read, std::back_inserter(mounts));
    return {};
  }));
  return mounts;
}

}  // namespace ocirun::runtime
