#include "linux/mounts/devices.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <linux/major.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/place.hpp"

namespace ocirun::linux {
namespace {

constexpr mode_t kDefaultMode = 0666;
constexpr const char* kHostNull = "/dev/null";
constexpr std::string_view kDevDirectory = "/dev";

Device character(std::string_view name, std::int64_t major, std::int64_t minor) {
  Device device;
  device.path = dev_path(name);
  device.major = major;
  device.minor = minor;
  return device;
}

mode_t type_of(const Device& device) {
  switch (device.kind) {
    case Device::Kind::kBlock:
      return S_IFBLK;
    case Device::Kind::kFifo:
      return S_IFIFO;
    case Device::Kind::kCharacter:
      break;
  }
  return S_IFCHR;
}

dev_t number_of(const Device& device) {
  if (device.kind == Device::Kind::kFifo) return 0;
  return makedev(static_cast<unsigned>(device.major), static_cast<unsigned>(device.minor));
}

std::string description(const Device& device) {
  if (device.kind == Device::Kind::kFifo) return "a fifo";
  return fmt::format("the {} device {}:{}",
                     device.kind == Device::Kind::kBlock ? "block" : "character", device.major,
                     device.minor);
}

bool is_that_device(const struct stat& info, const Device& device) {
  if ((info.st_mode & S_IFMT) != type_of(device)) return false;
  return device.kind == Device::Kind::kFifo || info.st_rdev == number_of(device);
}

bool is_as_wanted(const struct stat& info, const Device& device) {
  return is_that_device(info, device) && info.st_uid == device.uid.value() &&
         info.st_gid == device.gid.value() &&
         (info.st_mode & 07777) == device.mode.value_or(kDefaultMode);
}

/// Verifies the node that mknod(2) made, and sets the owner and the mode if they differ: an ACL of
/// the directory may have changed the mode. Uses a descriptor, so the name is not resolved again.
Result<void> finish_node(const SafeDir::Entry& where, const Procfs& procfs, const Device& device) {
  OCIRUN_TRY_ASSIGN(const struct stat made, sys::fstatat(where.parent, where.name.c_str()));
  if (is_as_wanted(made, device)) return {};
  OCIRUN_TRY_ASSIGN(const UniqueFd node,
                    sys::openat(where.parent, where.name.c_str(), O_PATH | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(node));
  if (!is_that_device(info, device))
    return refuse("it was replaced while it was made: it is not {}", description(device));
  if (info.st_uid != device.uid.value() || info.st_gid != device.gid.value()) {
    auto done = sys::fchown(node, device.uid.value(), device.gid.value());
    if (!done && done.error().number() == EINVAL)
      done.error().within(fmt::format("user {} or group {} is not mapped in the user namespace",
                                      device.uid.value(), device.gid.value()));
    OCIRUN_TRY(std::move(done));
  }
  const mode_t mode = device.mode.value_or(kDefaultMode);
  if ((info.st_mode & 07777) == mode) return {};
  // fchmod(2) refuses O_PATH descriptors, and fchmodat2(2) needs Linux 6.6.
  OCIRUN_TRY_ASSIGN(const UniqueFd links, procfs.open_file("self/fd", O_PATH | O_DIRECTORY));
  return sys::fchmodat(links, std::to_string(node.get()).c_str(), mode);
}

Result<void> check_existing(const SafeDir::Entry& where, const Device& device) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(where.parent, where.name.c_str()));
  if (!is_that_device(info, device))
    return refuse("the root filesystem has another file at this path, which is not {}",
                  description(device));
  return {};
}

/// False on any error: no link is made then.
bool exists(const SafeDir& root, const char* path) {
  return root.open(RootfsPath(path), O_PATH | O_NOFOLLOW).has_value();
}

}  // namespace

Result<UniqueFd> open_host_node(const Device& device) {
  std::vector<std::string> names{
      device.path.string(),
      fmt::format("/dev/{}/{}:{}", device.kind == Device::Kind::kBlock ? "block" : "char",
                  device.major, device.minor)};
  for (const Device& known : default_devices())
    if (device.kind == known.kind && number_of(device) == number_of(known))
      names.push_back(known.path.string());
  for (const std::string& name : names) {
    auto node = sys::open(name.c_str(), O_PATH);
    if (!node) continue;
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*node));
    if (is_that_device(info, device)) return node;
  }
  return refuse(
      "in a user namespace it can only be bound, and the host has no node that is {}, neither {} "
      "nor {}",
      description(device), names[0], names[1]);
}

std::span<const Device> default_devices() {
  static const std::array<Device, 6> devices = {
      character("null", 1, 3),   character("zero", 1, 5),    character("full", 1, 7),
      character("random", 1, 8), character("urandom", 1, 9), character("tty", 5, 0)};
  return devices;
}

Result<void> DeviceMaker::make(const Device& device) {
  return within(make_node(device), "device " + device.path.string());
}

Result<void> DeviceMaker::make_node(const Device& device) {
  OCIRUN_TRY(find_place(device.path));
  if (source_ == NodeSource::kBindHostNode && device.kind != Device::Kind::kFifo)
    return bind_node(device);
  const auto made = make_node_at(place_, procfs_, device);
  if (!made && made.error().number() == EPERM && source_ == NodeSource::kMakeNode)
    return bind_node(device);
  OCIRUN_TRY(made);
  return {};
}

Result<void> DeviceMaker::find_place(const RootfsPath& path) {
  OCIRUN_TRY_ASSIGN(auto parts, SafeDir::split(path));
  auto& [directory, name] = parts;
  if (place_.parent && directory == directory_) {
    place_.name = std::move(name);
    return {};
  }
  OCIRUN_TRY_ASSIGN(place_, root_.entry(path));
  directory_ = std::move(directory);
  return {};
}

Result<void> DeviceMaker::bind_node(const Device& device) {
  OCIRUN_TRY_ASSIGN(const UniqueFd host, open_host_node(device));
  if (auto existing = sys::fstatat(place_.parent, place_.name.c_str());
      existing && is_that_device(*existing, device))
    return {};
  OCIRUN_TRY_ASSIGN(Cover cover, open_cover(place_));
  const MountPoint point{root_, procfs_, device.path, std::move(cover.file), false};
  Placement as_host_node;
  as_host_node.attributes = kHostNode;
  OCIRUN_TRY(within(place_bind(point, host, as_host_node), "bind the host's node"));
  return {};
}

Result<Cover> open_cover(const SafeDir::Entry& where) {
  const char* name = where.name.c_str();
  auto made = sys::openat(where.parent, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (made) return Cover{.file = std::move(*made), .was_made = true};
  if (made.error().number() != EEXIST) return std::unexpected(std::move(made).error());
  OCIRUN_TRY_ASSIGN(UniqueFd found, sys::openat(where.parent, name, O_PATH | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(found));
  if (!S_ISREG(info.st_mode)) return refuse("the root filesystem has another file at this path");
  return Cover{.file = std::move(found), .was_made = false};
}

Result<bool> make_node_at(const SafeDir::Entry& where, const Procfs& procfs, const Device& device) {
  const mode_t mode = type_of(device) | device.mode.value_or(kDefaultMode);
  auto made = sys::mknodat(where.parent, where.name.c_str(), mode, number_of(device));
  if (made) {
    if (auto finished = finish_node(where, procfs, device); !finished) {
      if (check_existing(where, device)) ignore(sys::unlinkat(where.parent, where.name.c_str(), 0));
      return std::unexpected(std::move(finished).error());
    }
    return true;
  }
  if (made.error().number() != EEXIST) return std::unexpected(std::move(made).error());
  OCIRUN_TRY(check_existing(where, device));
  return false;
}

Result<void> make_device_links(const SafeDir& root) {
  struct Link {
    const char* name;
    const char* target;
  };
  constexpr Link kDescriptorLinks[] = {{"fd", "/proc/self/fd"},
                                       {"stdin", "/proc/self/fd/0"},
                                       {"stdout", "/proc/self/fd/1"},
                                       {"stderr", "/proc/self/fd/2"}};
  constexpr Link kCore = {"core", "/proc/kcore"};
  OCIRUN_TRY_ASSIGN(const UniqueFd dev,
                    root.make_directories(RootfsPath(std::string(kDevDirectory))));
  const auto make = [&dev](const Link& link) -> Result<void> {
    auto made = sys::symlinkat(link.target, dev, link.name);
    if (made || made.error().number() == EEXIST) return {};
    return within(std::move(made), dev_path(link.name).string());
  };
  if (exists(root, kDescriptorLinks[0].target))
    for (const Link& link : kDescriptorLinks) OCIRUN_TRY(make(link));
  if (exists(root, kCore.target)) OCIRUN_TRY(make(kCore));
  return make({"ptmx", "pts/ptmx"});
}

Result<UniqueFd> open_verified_null() {
  OCIRUN_TRY_ASSIGN(UniqueFd null, sys::open(kHostNull, O_RDWR | O_NOFOLLOW | O_NOCTTY));
  OCIRUN_TRY(verify_null(null));
  return null;
}

Result<void> verify_null(Fd fd) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(fd));
  if (!S_ISCHR(info.st_mode) || info.st_rdev != makedev(1, 3))
    return refuse("/dev/null is not the character device 1:3");
  return {};
}

RootfsPath dev_path(std::string_view name) {
  return RootfsPath(fmt::format("{}/{}", kDevDirectory, name));
}

bool is_dev_directory(std::string_view path) { return path == kDevDirectory; }

namespace {

constexpr int kTries = 64;  // another process may take the free device first

Result<UniqueFd> open_device(int number) {
  const std::string path = fmt::format("/dev/loop{}", number);
  OCIRUN_TRY_ASSIGN(UniqueFd device, sys::open(path.c_str(), O_RDWR | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(device));
  if (!S_ISBLK(info.st_mode) || major(info.st_rdev) != LOOP_MAJOR)
    return refuse("{} is no loop device", path);
  return device;
}

Result<UniqueFd> attach(Fd file) {
  OCIRUN_TRY_ASSIGN(const UniqueFd control, sys::open("/dev/loop-control", O_RDWR | O_NOFOLLOW));
  for (int tries = 0; tries < kTries; ++tries) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return fail(errno, "find a free loop device");
    OCIRUN_TRY_ASSIGN(UniqueFd device, open_device(number));
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(file.value);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return device;
    if (errno != EBUSY) return fail(errno, "attach the loop device {}", number);
  }
  return fail(EBUSY, "find a free loop device");
}

}  // namespace

Result<UniqueFd> attach_loop_device(Fd file) {
  return within(attach(file), "a loop device is needed");
}

}  // namespace ocirun::linux
