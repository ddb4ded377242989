#include "criu/dump/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>

#include "criu/dump/directory.hpp"
#include "criu/dump/format.hpp"
#include "criu/dump/proto.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

constexpr const char* kFilesImage = "files.img";
constexpr const char* kRemapsImage = "remap-fpath.img";
constexpr const char* kQueuesImage = "sk-queues.img";

/// A type of open files.
struct FileType {
  std::uint32_t type;
  std::uint32_t message;       // the field of file_entry with the message for the type
  std::uint32_t receiver = 0;  // the field of that message with the receiver of signals; 0 for none
};
constexpr FileType kFileTypes[] = {
    {proto("fd_types.REG"), proto("file_entry.reg"), proto("reg_file_entry.fown")},
    {proto("fd_types.PIPE"), proto("file_entry.pipe"), proto("pipe_entry.fown")},
    {proto("fd_types.FIFO"), proto("file_entry.fifo")},
    {proto("fd_types.INETSK"), proto("file_entry.isk"), proto("inet_sk_entry.fown")},
    {proto("fd_types.UNIXSK"), proto("file_entry.usk"), proto("unix_sk_entry.fown")},
    {proto("fd_types.EVENTFD"), proto("file_entry.efd"), proto("eventfd_file_entry.fown")},
    {proto("fd_types.EVENTPOLL"), proto("file_entry.epfd"), proto("eventpoll_file_entry.fown")},
    {proto("fd_types.INOTIFY"), proto("file_entry.ify"), proto("inotify_file_entry.fown")},
    {proto("fd_types.SIGNALFD"), proto("file_entry.sgfd"), proto("signalfd_entry.fown")},
    {proto("fd_types.PACKETSK"), proto("file_entry.psk"), proto("packet_sock_entry.fown")},
    {proto("fd_types.TTY"), proto("file_entry.tty"), proto("tty_file_entry.fown")},
    {proto("fd_types.FANOTIFY"), proto("file_entry.ffy"), proto("fanotify_file_entry.fown")},
    {proto("fd_types.NETLINKSK"), proto("file_entry.nlsk"), proto("netlink_sk_entry.fown")},
    {proto("fd_types.NS"), proto("file_entry.nsf")},
    {proto("fd_types.TUNF"), proto("file_entry.tunf")},
    {proto("fd_types.EXT"), proto("file_entry.ext"), proto("ext_file_entry.fown")},
    {proto("fd_types.TIMERFD"), proto("file_entry.tfd"), proto("timerfd_entry.fown")},
    {proto("fd_types.MEMFD"), proto("file_entry.memfd"), proto("memfd_file_entry.fown")},
    {proto("fd_types.BPFMAP"), proto("file_entry.bpf"), proto("bpfmap_file_entry.fown")},
    {proto("fd_types.PIDFD"), proto("file_entry.pidfd"), proto("pidfd_entry.fown")}};

// For a field of type sint32, protobuf writes 0, -1, 1, -2, … as 0, 1, 2, 3, … (zigzag).
std::int64_t signed_in(const ImageMessage& message, std::uint32_t field, std::int64_t otherwise) {
  const auto value = number_in(message, field);
  if (!value) return otherwise;
  const auto half = static_cast<std::int64_t>(*value >> 1);
  return (*value & 1U) == 0 ? half : -half - 1;
}

// Whether the entry has a message that is not for its type. CRIU reads only the message for the
// type.
bool has_other_message(const ImageMessage& entry, std::uint32_t type) {
  const auto known = std::ranges::find(kFileTypes, type, &FileType::type);
  return std::ranges::any_of(entry, [&](const ImageField& field) {
    return field.number > proto("file_entry.id") &&
           (known == std::end(kFileTypes) || field.number != known->message);
  });
}

Result<void> read_receiver(const ImageMessage& entry, ImageFile& file) {
  for (const FileType& type : kFileTypes) {
    if (type.receiver == 0) continue;
    OCIRUN_TRY_ASSIGN(const ImageMessage message, message_in(entry, type.message));
    OCIRUN_TRY_ASSIGN(const ImageMessage receiver, message_in(message, type.receiver));
    const std::uint32_t pid = word_in(receiver, proto("fown_entry.pid"));
    if (pid != 0) file.signal_receiver = pid;
  }
  return {};
}

Result<void> read_regular(const ImageMessage& entry, ImageFile& file) {
  OCIRUN_TRY_ASSIGN(const ImageMessage message, message_in(entry, proto("file_entry.reg")));
  if (message.empty()) return {};
  file.regular = {.name = std::string(text_in(message, proto("reg_file_entry.name"))),
                  .flags = word_in(message, proto("reg_file_entry.flags")),
                  .mount = signed_in(message, proto("reg_file_entry.mnt_id"), -1)};
  return {};
}

// A name that begins with a NUL belongs to an abstract socket, and is no path of a file.
Result<void> read_unix_socket(const ImageMessage& entry, ImageFile& file) {
  OCIRUN_TRY_ASSIGN(const ImageMessage socket, message_in(entry, proto("file_entry.usk")));
  file.paths.emplace_back(text_in(socket, proto("unix_sk_entry.name_dir")));
  std::string_view name = text_in(socket, proto("unix_sk_entry.name"));
  if (name.starts_with('\0')) return {};
  if (name.ends_with('\0')) name.remove_suffix(1);
  file.paths.emplace_back(name);
  return {};
}

Result<void> read_handle(const ImageMessage& watch, std::uint32_t field, ImageFile& file) {
  OCIRUN_TRY_ASSIGN(const ImageMessage handle, message_in(watch, field));
  const std::string_view path = text_in(handle, proto("fh_entry.path"));
  file.has_watch_without_path = file.has_watch_without_path || path.empty();
  file.paths.emplace_back(path);
  return {};
}

Result<void> read_watches(const ImageMessage& entry, ImageFile& file) {
  OCIRUN_TRY_ASSIGN(const ImageMessage inotify, message_in(entry, proto("file_entry.ify")));
  OCIRUN_TRY(
      for_each_message_in(inotify, proto("inotify_file_entry.wd"), [&](const ImageMessage& watch) {
        return read_handle(watch, proto("inotify_wd_entry.f_handle"), file);
      }));
  OCIRUN_TRY_ASSIGN(const ImageMessage fanotify, message_in(entry, proto("file_entry.ffy")));
  return for_each_message_in(
      fanotify, proto("fanotify_file_entry.mark"), [&](const ImageMessage& mark) -> Result<void> {
        OCIRUN_TRY_ASSIGN(const ImageMessage inode,
                          message_in(mark, proto("fanotify_mark_entry.ie")));
        if (!inode.empty())
          OCIRUN_TRY(read_handle(inode, proto("fanotify_inode_mark_entry.f_handle"), file));
        OCIRUN_TRY_ASSIGN(const ImageMessage mount,
                          message_in(mark, proto("fanotify_mark_entry.me")));
        file.paths.emplace_back(text_in(mount, proto("fanotify_mount_mark_entry.path")));
        return {};
      });
}

Result<ImageFile> read_open_file(const ImageMessage& entry) {
  ImageFile file{.id = word_in(entry, proto("file_entry.id")),
                 .type = word_in(entry, proto("file_entry.type"))};
  file.has_other_message = has_other_message(entry, file.type);
  OCIRUN_TRY(read_receiver(entry, file));
  OCIRUN_TRY(read_regular(entry, file));
  OCIRUN_TRY(read_unix_socket(entry, file));
  OCIRUN_TRY(read_watches(entry, file));
  return file;
}

// Reads only the beginning of the image, because the content of the deleted file follows the only
// entry.
Result<std::uint32_t> read_ghost_mode(Fd images, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const UniqueFd image,
                    linux::sys::openat(images, name.c_str(), O_RDONLY | O_NOFOLLOW));
  std::array<char, 4096> beginning;
  const ssize_t size = ::read(image.get(), beginning.data(), beginning.size());
  if (size < 0) return linux::sys::last_error("read");
  OCIRUN_TRY_ASSIGN(
      const ImageMessage ghost,
      parse_first_entry({beginning.data(), static_cast<std::size_t>(size)}, ImageKind::kGhost));
  return word_in(ghost, proto("ghost_file_entry.mode"));
}

Result<void> read_deleted_file(Fd images, const ImageMessage& entry, ImageFiles& files) {
  // Without the field remap_type, this bit of remap_id marks a ghost.
  constexpr std::uint32_t kOldGhost = std::uint32_t{1} << 31;
  std::uint32_t id = word_in(entry, proto("remap_file_path_entry.remap_id"));
  std::uint32_t type = word_in(entry, proto("remap_file_path_entry.remap_type"));
  if (!number_in(entry, proto("remap_file_path_entry.remap_type")) && (id & kOldGhost) != 0) {
    id &= ~kOldGhost;
    type = proto("remap_type.GHOST");
  }
  ImageDeletedFile file{.file = word_in(entry, proto("remap_file_path_entry.orig_id"))};
  if (type == proto("remap_type.GHOST")) {
    file.image = fmt::format("ghost-file-{:x}.img", id);
    OCIRUN_TRY_ASSIGN(file.ghost_mode, within(read_ghost_mode(images, file.image), file.image));
  } else if (type == proto("remap_type.LINKED")) {
    file.link = id;
  }
  files.deleted.push_back(std::move(file));
  return {};
}

Result<bool> have_descriptors(std::string_view queues) {
  const auto size_of_data = [](const ImageMessage& packet) {
    return std::uint64_t{word_in(packet, proto("sk_packet_entry.length"))};
  };
  OCIRUN_TRY_ASSIGN(const auto packets,
                    parse_image_with_data(queues, ImageKind::kSocketQueues, size_of_data));
  return std::ranges::any_of(packets, [](const ImageMessage& packet) {
    return std::ranges::find(packet, proto("sk_packet_entry.scm"), &ImageField::number) !=
           packet.end();
  });
}

Result<void> check_plain_path(std::string_view path) {
  if (!path.contains('\0') && !leads_up(path)) return {};
  return refuse("the path {:?} is not plain", path);
}

Result<void> check_open_file(const ImageFile& file) {
  if (file.has_other_message)
    return refuse("an open file of type {} has a message of another type", file.type);
  if (file.regular) {
    OCIRUN_TRY(check_plain_path(file.regular->name));
    if ((file.regular->flags & kMakingFlags) != 0)
      return refuse("the open file {:?} has flags with which criu would make or empty it",
                    file.regular->name);
  }
  if (file.has_watch_without_path) return refuse("a watch of inotify or fanotify has no path");
  for (const std::string& path : file.paths) OCIRUN_TRY(check_plain_path(path));
  return {};
}

using RegularFiles = std::map<std::uint32_t, ImageRegularFile>;  // by their numbers

Result<ImageRegularFile> find_regular(const RegularFiles& files, std::uint32_t id) {
  const auto found = files.find(id);
  if (found != files.end()) return found->second;
  return refuse("{} has no file with the number {}", kFilesImage, id);
}

Result<void> check_deleted_file(const RegularFiles& files, const ImageDeletedFile& deleted,
                                const ImagePlaces& places) {
  OCIRUN_TRY_ASSIGN(const ImageRegularFile original, find_regular(files, deleted.file));
  if (deleted.ghost_mode) {
    const std::uint32_t mode = *deleted.ghost_mode;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
      return refuse("{}: criu would make a symlink or a device (mode {:06o})", deleted.image, mode);
    OCIRUN_TRY(places.check_file(original.name, original.mount));
  }
  if (!deleted.link) return {};
  OCIRUN_TRY_ASSIGN(const ImageRegularFile link, find_regular(files, *deleted.link));
  return places.check_file(link.name, original.mount);
}

bool has_number(std::span<const ImageProcess> processes, std::uint32_t pid) {
  return std::ranges::any_of(processes, [&](const ImageProcess& process) {
    const auto is_it = [&](int own) { return static_cast<std::uint32_t>(own) == pid; };
    return is_it(process.pid) || std::ranges::any_of(process.threads, is_it);
  });
}

}  // namespace

Result<ImageFiles> read_image_files(Fd images) {
  ImageFiles files;
  OCIRUN_TRY_ASSIGN(const auto open, read_if_there(images, kFilesImage, kMostImageBytes));
  if (!open)
    return fail(ENOENT, "{}, which criu 3.11 and newer ones write, is missing", kFilesImage);
  OCIRUN_TRY_ASSIGN(const auto entries, within(parse_image(*open, ImageKind::kFiles), kFilesImage));
  for (const ImageMessage& entry : entries) {
    OCIRUN_TRY_ASSIGN(ImageFile file, within(read_open_file(entry), kFilesImage));
    files.open.push_back(std::move(file));
  }
  OCIRUN_TRY_ASSIGN(const auto remaps, read_if_there(images, kRemapsImage, kMostImageBytes));
  if (remaps) {
    OCIRUN_TRY_ASSIGN(const auto deleted,
                      within(parse_image(*remaps, ImageKind::kRemaps), kRemapsImage));
    for (const ImageMessage& entry : deleted) OCIRUN_TRY(read_deleted_file(images, entry, files));
  }
  OCIRUN_TRY_ASSIGN(const auto queues, read_if_there(images, kQueuesImage, kMostImageBytes));
  if (queues) {
    OCIRUN_TRY_ASSIGN(files.has_descriptors_in_sockets,
                      within(have_descriptors(*queues), kQueuesImage));
  }
  return files;
}

Result<void> check_image_files(const ImageFiles& files, const ImagePlaces& places) {
  RegularFiles regular;
  for (const ImageFile& file : files.open) {
    OCIRUN_TRY(within(check_open_file(file), kFilesImage));
    if (file.regular) regular.insert_or_assign(file.id, *file.regular);
  }
  for (const ImageDeletedFile& file : files.deleted)
    OCIRUN_TRY(within(check_deleted_file(regular, file, places), kRemapsImage));
  if (!files.has_descriptors_in_sockets) return {};
  return refuse(
      "{}: descriptors are on their way through a unix socket (SCM_RIGHTS), where nobody can "
      "compare them",
      kQueuesImage);
}

Result<void> check_signal_receivers(const ImageFiles& files,
                                    std::span<const ImageProcess> processes) {
  for (const ImageFile& file : files.open)
    if (file.signal_receiver != 0 && !has_number(processes, file.signal_receiver))
      return refuse("{}: an open file sends signals to process {}, which the images do not have",
                    kFilesImage, file.signal_receiver);
  return {};
}

}  // namespace ocirun::runtime
