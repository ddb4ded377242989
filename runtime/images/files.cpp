#include "runtime/images/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "runtime/images/directory.hpp"
#include "runtime/images/format.hpp"

namespace ocirun::runtime {
namespace {

constexpr const char* kFilesImage = "files.img";
constexpr const char* kRemapsImage = "remap-fpath.img";
constexpr const char* kQueuesImage = "sk-queues.img";

// Fields of CRIU's messages.
enum FileField : std::uint32_t {
  kFileType = 1,
  kFileId = 2,
  kRegular = 3,
  kInotify = 13,
  kFanotify = 14,
  kUnix = 16
};
/// A type of open files, and the field with its message.
struct FileType {
  std::uint32_t type = 0;
  std::uint32_t field = 0;
};
constexpr FileType kTypes[] = {{.type = 1, .field = kRegular}, {.type = 2, .field = 18},
                               {.type = 3, .field = 17},       {.type = 4, .field = 4},
                               {.type = 5, .field = kUnix},    {.type = 6, .field = 8},
                               {.type = 7, .field = 9},        {.type = 8, .field = kInotify},
                               {.type = 9, .field = 10},       {.type = 10, .field = 6},
                               {.type = 11, .field = 19},      {.type = 12, .field = kFanotify},
                               {.type = 13, .field = 7},       {.type = 14, .field = 5},
                               {.type = 15, .field = 11},      {.type = 16, .field = 15},
                               {.type = 17, .field = 12},      {.type = 18, .field = 20},
                               {.type = 19, .field = 21},      {.type = 20, .field = 22}};
enum RegularField : std::uint32_t { kRegularFlags = 2, kRegularName = 6, kRegularMount = 7 };
enum UnixField : std::uint32_t { kUnixName = 11, kUnixDirectory = 14 };
enum InotifyField : std::uint32_t { kWatch = 5 };
enum WatchField : std::uint32_t { kWatchHandle = 7 };
enum FanotifyField : std::uint32_t { kMark = 6 };
enum MarkField : std::uint32_t { kMarkInode = 7, kMarkMount = 8 };
enum MarkInodeField : std::uint32_t { kMarkHandle = 2 };
enum MarkMountField : std::uint32_t { kMarkPath = 2 };
enum HandleField : std::uint32_t { kHandlePath = 4 };
enum RemapField : std::uint32_t { kRemapOriginal = 1, kRemapId = 2, kRemapType = 3 };
enum RemapType : std::uint32_t { kLinked = 0, kGhost = 1 };
enum GhostField : std::uint32_t { kGhostMode = 3 };
enum PacketField : std::uint32_t { kPacketLength = 2, kPacketDescriptors = 4 };

// protobuf writes a number that may be negative as 0, -1, 1, -2, … = 0, 1, 2, 3, …
std::int64_t signed_in(const ImageMessage& message, std::uint32_t field, std::int64_t otherwise) {
  const auto value = number_in(message, field);
  if (!value) return otherwise;
  const auto half = static_cast<std::int64_t>(*value >> 1);
  return (*value & 1U) == 0 ? half : -half - 1;
}

Result<void> check_path(std::string_view path) {
  if (!path.contains('\0') && !leads_up(path)) return {};
  return refuse("the path {:?} is not plain", path);
}

struct RegularFile {
  std::string name;
  std::int64_t mount = -1;
};

/// The walk over the images.
class Check {
 public:
  Check(Fd images, const ImagePlaces& places) : images_(images), places_(places) {}

  Result<void> run() {
    TRY_ASSIGN(const auto files, read_if_there(images_, kFilesImage, kMostImageBytes));
    if (!files)
      return fail(ENOENT, "{}, which criu 3.11 and newer ones write, is missing", kFilesImage);
    TRY(within(check_files(*files), kFilesImage));
    TRY_ASSIGN(const auto remaps, read_if_there(images_, kRemapsImage, kMostImageBytes));
    if (remaps) TRY(within(check_remaps(*remaps), kRemapsImage));
    TRY_ASSIGN(const auto queues, read_if_there(images_, kQueuesImage, kMostImageBytes));
    return queues ? within(check_queues(*queues), kQueuesImage) : Result<void>{};
  }

 private:
  Result<void> check_files(std::string_view image) {
    TRY_ASSIGN(const auto entries, parse_image(image, ImageKind::kFiles));
    for (const ImageMessage& entry : entries) {
      TRY(check_type(entry));
      TRY(check_regular(entry));
      TRY(check_unix(entry));
      TRY(check_watches(entry));
      TRY(check_marks(entry));
    }
    return {};
  }

  // CRIU reads the message of the entry's type, and no other.
  static Result<void> check_type(const ImageMessage& entry) {
    const std::uint32_t type = word_in(entry, kFileType);
    const auto known = std::ranges::find(kTypes, type, &FileType::type);
    for (const ImageField& field : entry)
      if (field.number > kFileId && (known == std::end(kTypes) || field.number != known->field))
        return refuse("an open file of type {} has a message of another type", type);
    return {};
  }

  Result<void> check_regular(const ImageMessage& entry) {
    TRY_ASSIGN(const ImageMessage file, message_in(entry, kRegular));
    const std::string_view name = text_in(file, kRegularName);
    TRY(check_path(name));
    if ((word_in(file, kRegularFlags) & kMakingFlags) != 0)
      return refuse("the open file {:?} has flags with which criu would make or empty it", name);
    if (!file.empty())
      regular_[word_in(entry, kFileId)] = {.name = std::string(name),
                                           .mount = signed_in(file, kRegularMount, -1)};
    return {};
  }

  // A name that begins with a NUL is none of a file.
  static Result<void> check_unix(const ImageMessage& entry) {
    TRY_ASSIGN(const ImageMessage socket, message_in(entry, kUnix));
    TRY(check_path(text_in(socket, kUnixDirectory)));
    std::string_view name = text_in(socket, kUnixName);
    if (name.starts_with('\0')) return {};
    if (name.ends_with('\0')) name.remove_suffix(1);
    return check_path(name);
  }

  static Result<void> check_handle(const ImageMessage& watch, std::uint32_t field) {
    TRY_ASSIGN(const ImageMessage handle, message_in(watch, field));
    const std::string_view path = text_in(handle, kHandlePath);
    if (path.empty()) return refuse("a watch of inotify or fanotify has no path");
    return check_path(path);
  }

  static Result<void> check_watches(const ImageMessage& entry) {
    TRY_ASSIGN(const ImageMessage group, message_in(entry, kInotify));
    return for_each_message_in(
        group, kWatch, [](const ImageMessage& watch) { return check_handle(watch, kWatchHandle); });
  }

  static Result<void> check_marks(const ImageMessage& entry) {
    TRY_ASSIGN(const ImageMessage group, message_in(entry, kFanotify));
    return for_each_message_in(group, kMark, [](const ImageMessage& mark) -> Result<void> {
      TRY_ASSIGN(const ImageMessage inode, message_in(mark, kMarkInode));
      if (!inode.empty()) TRY(check_handle(inode, kMarkHandle));
      TRY_ASSIGN(const ImageMessage mount, message_in(mark, kMarkMount));
      return check_path(text_in(mount, kMarkPath));
    });
  }

  Result<void> check_remaps(std::string_view image) const {
    constexpr std::uint32_t kOldGhost = std::uint32_t{1} << 31;  // in the number, without a type
    TRY_ASSIGN(const auto entries, parse_image(image, ImageKind::kRemaps));
    for (const ImageMessage& entry : entries) {
      std::uint32_t id = word_in(entry, kRemapId);
      std::uint32_t type = word_in(entry, kRemapType);
      if (!number_in(entry, kRemapType) && (id & kOldGhost) != 0) {
        id &= ~kOldGhost;
        type = kGhost;
      }
      TRY_ASSIGN(const RegularFile original, find(word_in(entry, kRemapOriginal)));
      if (type == kGhost) {
        TRY(check_ghost(id));
        TRY(places_.check_file(original.name, original.mount));
      } else if (type == kLinked) {
        TRY_ASSIGN(const RegularFile link, find(id));
        TRY(places_.check_file(link.name, original.mount));
      }
    }
    return {};
  }

  Result<RegularFile> find(std::uint32_t id) const {
    const auto found = regular_.find(id);
    if (found != regular_.end()) return found->second;
    return refuse("{} has no file with the number {}", kFilesImage, id);
  }

  // The content of the file follows the only entry.
  Result<void> check_ghost(std::uint32_t id) const {
    const std::string name = fmt::format("ghost-file-{:x}.img", id);
    const auto checked = [&]() -> Result<void> {
      TRY_ASSIGN(const UniqueFd image,
                 linux::sys::openat(images_, name.c_str(), O_RDONLY | O_NOFOLLOW));
      std::array<char, 4096> beginning;
      const ssize_t size = ::read(image.get(), beginning.data(), beginning.size());
      if (size < 0) return linux::sys::last_error("read");
      TRY_ASSIGN(
          const ImageMessage file,
          parse_first_entry({beginning.data(), static_cast<std::size_t>(size)}, ImageKind::kGhost));
      const std::uint32_t mode = word_in(file, kGhostMode);
      if (S_ISREG(mode) || S_ISDIR(mode) || S_ISFIFO(mode) || S_ISSOCK(mode)) return {};
      return refuse("criu would make a symlink or a device (mode {:06o})", mode);
    }();
    return within(checked, name);
  }

  static Result<void> check_queues(std::string_view image) {
    TRY_ASSIGN(
        const auto packets,
        parse_image_with_data(image, ImageKind::kSocketQueues, [](const ImageMessage& packet) {
          return std::uint64_t{word_in(packet, kPacketLength)};
        }));
    const bool is_free = std::ranges::all_of(packets, [](const ImageMessage& packet) {
      return std::ranges::find(packet, std::uint32_t{kPacketDescriptors}, &ImageField::number) ==
             packet.end();
    });
    if (is_free) return {};
    return refuse(
        "descriptors are on their way through a unix socket (SCM_RIGHTS), where nobody can compare "
        "them");
  }

  Fd images_;
  const ImagePlaces& places_;
  std::map<std::uint32_t, RegularFile> regular_;
};

}  // namespace

Result<void> check_file_images(Fd images, const ImagePlaces& places) {
  return Check(images, places).run();
}

}  // namespace ocirun::runtime
