#include "linux/sealed/kept_image.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/sealed/detached_copy.hpp"

namespace ocirun::linux {

constinit KeptImage ocirun_kept_image = KeptImage::kUnused;
constinit char ocirun_directory[kLongestPath] = {};

namespace {

constexpr std::size_t kMostImages = 4;  // two versions used alternately, and some to spare
constexpr time_t kSettled = 2;          // seconds; a filesystem's clock ticks every few ms

// Two writes within one clock tick leave the same ctime, and the second write could follow after
// the copy. So ocirun keeps no copy of a file that was changed just now.
bool has_settled(const struct statx& executable) {
  return ::time(nullptr) - executable.stx_ctime.tv_sec >= kSettled;
}

Result<UniqueFd> open_or_make(const std::string& path) {
  if (auto made = sys::mkdirat(Fd{AT_FDCWD}, path.c_str(), kImageDirectoryMode);
      !made && made.error().number() != EEXIST)
    return std::unexpected(std::move(made).error());
  OCIRUN_TRY_ASSIGN(UniqueFd directory,
                    sys::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct statx status{};
  if (::statx(directory.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0)
    return fail(errno, "stat {}", path);
  if (!is_image_directory(status, ::geteuid())) return refuse("{}: not ours alone", path);
  return directory;
}

Result<UniqueFd> open_in_session(const std::string& above) {
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, sys::open(above.c_str(), O_PATH | O_DIRECTORY));
  struct statx status{};
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(parent));
  // Root makes no image in a directory of another user.
  if (::statx(parent.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0 ||
      !may_hold_images(status, filesystem.magic, ::geteuid()))
    return refuse("{}: not ours alone", above);
  return open_or_make(above + "/" + kImageDirectoryName);
}

Result<UniqueFd> open_directory() {
  auto directory = open_or_make(kImageDirectory);
  const char* const above = std::getenv("XDG_RUNTIME_DIR");
  if (directory || above == nullptr || *above != '/') return directory;
  auto in_session = open_in_session(above);
  if (in_session) return in_session;
  return refuse("{}; {}", directory.error().message(), in_session.error().message());
}

Result<void> write_image(Fd directory, const char* name, Fd copy, std::size_t size) {
  OCIRUN_TRY_ASSIGN(
      const UniqueFd file,
      sys::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IXUSR));
  OCIRUN_TRY(copy_content(copy, file, size));
  // After a power cut, an image that has its name must also have its content: entry.cpp compares
  // only the size and the beginning.
  if (::fdatasync(file.get()) != 0) return fail(errno, "write an image to the disk");
  OCIRUN_TRY(sys::name_file(file, directory, name));  // EEXIST: another command was quicker
  return {};
}

// Removes all images but the kMostImages newest ones. The kernel keeps a removed image for the
// processes that run from it.
Result<void> remove_oldest(Fd directory) {
  std::vector<std::tuple<time_t, long, std::string>> images;
  OCIRUN_TRY(for_each_entry(
      directory, [&images, directory](const char* name, unsigned char) -> Result<void> {
        const auto status = sys::fstatat(directory, name);
        if (!status) return {};  // another command has just removed it
        images.emplace_back(status->st_ctim.tv_sec, status->st_ctim.tv_nsec, name);
        return {};
      }));
  std::sort(images.begin(), images.end());
  const std::size_t surplus = images.size() - std::min(images.size(), kMostImages);
  for (std::size_t i = 0; i < surplus; ++i)
    ignore(sys::unlinkat(directory, std::get<2>(images[i]).c_str(), 0));
  return {};
}

// Whether the running executable is still the file that `before` describes. In this case a copy
// that was made in between has the content of that file.
bool is_unchanged(const struct statx& before) {
  struct statx now{};
  return ::statx(AT_FDCWD, "/proc/self/exe", 0, STATX_BASIC_STATS, &now) == 0 &&
         now.stx_ino == before.stx_ino && now.stx_size == before.stx_size &&
         now.stx_ctime.tv_sec == before.stx_ctime.tv_sec &&
         now.stx_ctime.tv_nsec == before.stx_ctime.tv_nsec;
}

}  // namespace

Result<void> keep_image(Fd copy, const struct statx& executable) {
  if (!has_settled(executable) || !is_unchanged(executable))
    return refuse("the executable was changed just now");
  std::array<char, kLongestImageName> name{};
  append_image_name(name.data(), executable);
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_directory());
  if (ocirun_kept_image == KeptImage::kWrong)
    ignore(sys::unlinkat(directory, name.data(), 0));
  else if (sys::fstatat(directory, name.data()))
    return {};
  OCIRUN_TRY(
      write_image(directory, name.data(), copy, static_cast<std::size_t>(executable.stx_size)));
  return remove_oldest(directory);
}

}  // namespace ocirun::linux
