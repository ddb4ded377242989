#include "runtime/checkpoint/images.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "linux/base/directory_entries.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/printable.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMaxLog = std::size_t{64} << 20;
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

HostPath without_last_slashes(const HostPath& path) {
  std::string text = path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return HostPath(text);
}

Result<UniqueFd> open_own(const HostPath& path, std::string_view option) {
  auto directory = linux::sys::open(path.c_str(), kDirectory);
  if (!directory && (directory.error().number() == ELOOP || directory.error().number() == ENOTDIR))
    return refuse("{} {}: must be a directory, and no symlink to one", option, path.string());
  if (!directory) return within(std::move(directory), std::string(option));
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(*directory));
  if (status.st_uid != ::geteuid())
    return refuse(
        "{} {}: belongs to user {}: must belong to the user who calls ocirun, because "
        "images hold the memory of the container",
        option, path.string(), status.st_uid);
  return directory;
}

Result<void> check_owner(const struct stat& status, std::string_view name) {
  if (status.st_uid != ::geteuid())
    return refuse("{}: belongs to user {}: must belong to the user who calls ocirun", name,
                  status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("{}: other users may write to it (mode {:04o})", name, status.st_mode & 07777);
  return {};
}

// Where the directory is criu's working directory too, a server of pages has a socket in it, and a
// killed criu leaves directories.
Result<void> check_entry(Fd directory, const char* name) {
  TRY_ASSIGN(const struct stat status, linux::sys::fstatat(directory, name));
  if (!S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode) && !S_ISDIR(status.st_mode))
    return refuse("{}: must be a regular file", linux::in_one_line(name));
  return check_owner(status, linux::in_one_line(name));
}

// Checks a directory of images, and then those that its link leads to.
Result<void> check_images(Fd first) {
  UniqueFd opened;
  Fd directory = first;
  for (int count = 0; count < kMostParents; ++count) {
    TRY_ASSIGN(const struct stat status, linux::sys::fstat(directory));
    TRY(check_owner(status, "the directory"));
    TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
      return std::string_view(name) == kParentLink ? Result<void>{} : check_entry(directory, name);
    }));
    auto parent = linux::sys::openat(directory, kParentLink, O_RDONLY | O_DIRECTORY);
    if (!parent && parent.error().number() == ENOENT) return {};
    if (!parent) return std::unexpected(std::move(parent).error());
    opened = *std::move(parent);
    directory = opened;
  }
  return refuse("the links named parent lead to more than {} directories", kMostParents);
}

constexpr std::string_view kNoServer = "Can't connect to server";  // CRIU calls this no error

/// What CRIU says, and what helps.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kAdvice{{
    {"has bad size",
     "the file has changed since the checkpoint: put back the one of that time, and for output to "
     "a "
     "file outside of the container use a pipe"},
    {"Connected TCP socket", "give --tcp-established, or end the TCP connections first"},
    {"tcp-established", "give --tcp-established, or end the TCP connections first"},
    {"in-flight TCP", "give --tcp-skip-in-flight, or try again when no connection is being made"},
    {"file locks", "give --file-locks"},
    {"Some file locks are hold", "give --file-locks"},
    {"External socket is used",
     "give --ext-unix-sk, or close the connections to sockets outside "
     "of the container"},
    {"shell-job", "give --shell-job: a program uses a terminal of the host"},
    {"without correspond master peer", "give --shell-job: a program uses a terminal of the host"},
    {"Use link-remap option", "give --link-remap: an open file has lost its name, and has another"},
    {"Can't lookup mount=",
     "a program has a file open that is outside of the container: a standard stream that is such a "
     "file has to be a pipe, a socket, a terminal of the container or the null device"},
    {"iptables",
     "criu locks the network by iptables-restore: install iptables, or give "
     "--network-lock nftables or skip"},
    {"inotify", "a program watches a file that was removed: criu cannot save such a watch"},
    {"rseq", "this criu is too old for the running kernel: install a newer one"},
    {"vdso", "this criu is too old for the running kernel: install a newer one"},
    {kNoServer, "no criu page-server answers at the address of --page-server"},
    {"No space left on device", "the file system of the images is full"},
}};

}  // namespace

Result<HostPath> follow_own_link(const HostPath& path) {
  const auto link = linux::sys::open(path.c_str(), O_PATH | O_NOFOLLOW);
  if (!link) return path;
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(*link));
  if (!S_ISLNK(status.st_mode) || status.st_uid != ::geteuid()) return path;
  TRY_ASSIGN(const UniqueFd directory, linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY));
  TRY_ASSIGN(std::string real,
             linux::sys::readlinkat(Fd{AT_FDCWD}, linux::host_fd_link(directory).c_str()));
  return HostPath(std::move(real));
}

Result<UniqueFd> open_directory_for_dump(const HostPath& path, std::string_view option) {
  const HostPath clean = without_last_slashes(path);
  TRY_ASSIGN(const UniqueFd parent, within(linux::open_parent(clean), std::string(option)));
  const std::string name = clean.string().substr(clean.string().rfind('/') + 1);
  if (const auto made = linux::sys::mkdirat(parent, name.c_str(), 0700);
      !made && made.error().number() != EEXIST)
    return fail(made.error().number(), "{}: make {}", option, clean.string());
  return open_own(clean, option);
}

Result<UniqueFd> open_images(const HostPath& path, TrustImages trust) {
  const HostPath clean = without_last_slashes(path);
  TRY_ASSIGN(UniqueFd directory, open_own(clean, "--image-path"));
  if (trust == TrustImages::kYes) return directory;
  if (auto checked = check_images(directory); !checked)
    return within(Result<UniqueFd>(std::unexpected(checked.error())),
                  fmt::format("--image-path {}: images decide what runs as whom; mend their modes "
                              "if you know their content, or give --trust-images",
                              clean.string()));
  return directory;
}

Result<void> check_parent_path(Fd images, const std::string& parent) {
  if (parent.starts_with('/'))
    return refuse("--parent-path {}: must be relative to the directory of --image-path", parent);
  const auto opened = linux::sys::openat(images, parent.c_str(), O_PATH | O_DIRECTORY);
  if (!opened) return fail(opened.error().number(), "--parent-path {}", parent);
  return {};
}

std::string last_errors(std::string_view log) {
  constexpr std::size_t kQuoted = 2;
  std::vector<std::string> errors;
  for (const std::string_view line : linux::words(log, '\n')) {
    const std::size_t at = line.find("Error (");
    if (at == std::string_view::npos) continue;
    const std::size_t end = line.find("): ", at);
    const std::string_view text =
        end == std::string_view::npos ? line.substr(at) : line.substr(end + 3);
    // "Dumping FAILED." and "Dump files (pid: 1) failed with -1" say nothing more.
    if (text.find("FAILED") == std::string_view::npos &&
        text.find(" failed with -") == std::string_view::npos)
      errors.push_back(linux::in_one_line(text));
  }
  if (errors.size() > kQuoted) errors.erase(errors.begin(), errors.end() - kQuoted);
  return fmt::format("{}", fmt::join(errors, "; "));
}

std::string_view advice_for(std::string_view log) {
  std::string_view advice;
  for (const std::string_view line : linux::words(log, '\n')) {
    if (line.find("Error (") == std::string_view::npos &&
        line.find(kNoServer) == std::string_view::npos)
      continue;
    const auto row = std::ranges::find_if(kAdvice, [&](const auto& entry) {
      return line.find(entry.first) != std::string_view::npos;
    });
    if (row != kAdvice.end() && advice.empty()) advice = row->second;
  }
  return advice;
}

Error explain_by_log(Error error, const CriuLog& log) {
  const auto text = linux::read_file(log.directory, log.name, kMaxLog, O_NOFOLLOW);
  if (!text) return error;
  std::string sentence = fmt::format("{}/{}", log.path, log.name);
  const std::string errors = last_errors(*text);
  const std::string_view advice = advice_for(*text);
  if (!errors.empty()) sentence += fmt::format(" says \"{}\"", errors);
  if (!advice.empty()) sentence += fmt::format(" ({})", advice);
  std::vector<std::string> frames = error.frames();
  frames.push_back((errors.empty() ? "see " : "") + sentence);
  return Error(0, std::move(frames));
}

}  // namespace ocirun::runtime
