#include "linux/mounts/loop_device.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <linux/major.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr int kTries = 64;  // another process may take the free device first

Result<UniqueFd> open_device(int number) {
  const std::string path = fmt::format("/dev/loop{}", number);
  TRY_ASSIGN(UniqueFd device, sys::open(path.c_str(), O_RDWR | O_NOFOLLOW));
  TRY_ASSIGN(const struct stat info, sys::fstat(device));
  if (!S_ISBLK(info.st_mode) || major(info.st_rdev) != LOOP_MAJOR)
    return refuse("{} is no loop device", path);
  return device;
}

Result<UniqueFd> attach(Fd file) {
  TRY_ASSIGN(const UniqueFd control, sys::open("/dev/loop-control", O_RDWR | O_NOFOLLOW));
  for (int tries = 0; tries < kTries; ++tries) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return fail(errno, "find a free loop device");
    TRY_ASSIGN(UniqueFd device, open_device(number));
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
