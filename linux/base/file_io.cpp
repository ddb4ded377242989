#include "linux/base/file_io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {

Result<void> write_all(Fd fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t count = ::write(fd.value, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno, "write");
    data.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

namespace {

/// Errors call the file `shown`.
Result<void> replace(Fd directory, const std::string& name, std::string_view content, mode_t mode,
                     const std::string& shown) {
  const std::string temporary = fmt::format(".{:.200}.{}", name, ::getpid());
  auto written = [&]() -> Result<void> {
    const auto make = [&] {
      return sys::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                         mode);
    };
    auto made = make();
    // The temporary name can be guessed, so another user may have put a symlink, a fifo or an open
    // file there. Removes such a file instead of writing to it.
    if (!made && made.error().number() == EEXIST) {
      ::unlinkat(directory.value, temporary.c_str(), 0);
      made = make();
    }
    if (!made) return fail(made.error().number(), "make a file in its directory");
    const UniqueFd& fd = *made;
    OCIRUN_TRY(write_all(fd, content));
    // The umask of the caller must not decide who may read the file.
    if (::fchmod(fd.get(), mode) != 0) return fail(errno, "set its mode");
    if (::renameat(directory.value, temporary.c_str(), directory.value, name.c_str()) != 0)
      return fail(errno, "rename the new file to this name");
    return {};
  }();
  if (!written) ::unlinkat(directory.value, temporary.c_str(), 0);
  return within(std::move(written), "write {}", shown);
}

}  // namespace

Result<void> replace_file(Fd directory, const std::string& name, std::string_view content,
                          mode_t mode) {
  return replace(directory, name, content, mode, name);
}

Result<UniqueFd> open_parent(const HostPath& path) {
  const std::size_t slash = path.string().rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.string().substr(0, slash == 0 ? 1 : slash);
  if (path.empty() || path.string().ends_with('/')) return fail(EISDIR, "write {}", path.string());
  auto parent = sys::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!parent) return fail(parent.error().number(), "write {}", path.string());
  return parent;
}

Result<void> replace_file(const HostPath& path, std::string_view content, mode_t mode) {
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, open_parent(path));
  const std::string name = path.string().substr(path.string().rfind('/') + 1);
  return replace(parent, name, content, mode, path.string());
}

Result<std::string> read_file(Fd directory, const std::string& name, std::size_t limit, int flags) {
  OCIRUN_TRY_ASSIGN(
      const UniqueFd fd,
      sys::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail(errno, "stat {}", name);
  if (!S_ISREG(status.st_mode)) return refuse("{}: must be a regular file", name);
  // procfs, cgroupfs and some FUSE filesystems say 0 for a file that has content.
  const auto size = static_cast<std::size_t>(status.st_size);
  return within(size == 0 ? sys::read_all(fd, limit) : sys::read_regular(fd, limit, size),
                "read {}", name);
}

Result<void> for_each_entry(
    Fd directory, const std::function<Result<void>(const char* name, unsigned char type)>& visit) {
  OCIRUN_TRY_ASSIGN(UniqueFd listing, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })> stream(
      ::fdopendir(listing.get()));
  if (!stream) return sys::last_error("list directory");
  ignore(listing.release());  // closedir(3) closes the descriptor
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return sys::last_error("list directory");
    if (entry == nullptr) return {};
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") OCIRUN_TRY(visit(entry->d_name, entry->d_type));
  }
}

Result<UniqueFd> make_memory_file(const char* name, unsigned flags) {
  UniqueFd file(::memfd_create(name, flags | MFD_CLOEXEC));
  if (!file && (errno == EACCES || errno == EINVAL))
    file.reset(::memfd_create(name, (flags ^ kNeverExecuted) | MFD_CLOEXEC));
  if (!file) return fail(errno, "make a file in memory");
  return file;
}

bool is_directory(Fd directory, const char* name, unsigned char type) {
  if (type != DT_UNKNOWN) return type == DT_DIR;
  struct stat status{};
  return ::fstatat(directory.value, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

}  // namespace ocirun::linux
