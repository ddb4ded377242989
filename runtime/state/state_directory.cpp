// Writes, reads and removes the files of a container's state directory.

#include "runtime/state/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <span>

#include "bundle/config/config.hpp"
#include "bundle/documents/added_mounts.hpp"
#include "bundle/documents/hook_runs.hpp"
#include "bundle/documents/life.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/owner.hpp"
#include "runtime/state/net_pin.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kIntent[] = "intent.json";
constexpr char kConfig[] = "config.json";
constexpr char kState[] = "state.json";
constexpr char kResources[] = "resources.json";
constexpr char kFilter[] = "seccomp.bpf";
constexpr char kStartSocket[] = "start.sock";
constexpr char kNotifySocket[] = "notify.sock";
// In the order of their removal. The container ceases to exist when state.json is removed.
constexpr std::array kFiles{kIntent,           kState,       kConfig,       kResources,
                            kFilter,           kStartSocket, kNotifySocket, bundle::kAddedMounts,
                            bundle::kHookRuns, bundle::kLife};
constexpr std::size_t kFilesOfEach = 3;  // each container has the first three; most lack the others
// The functions in net_devices.cpp make and remove these files. kNetworkPin may be a mount point.
constexpr std::array kFilesOfDevices{kDeviceJournal, kNetworkPin};
constexpr std::size_t kMaxFile = 16 * 1024 * 1024;
constexpr std::size_t kMaxForeignFile = 1024 * 1024;  // of a file of another user, read by root
constexpr int kMostLevels = 8;  // of directories that somebody else made in a state directory
constexpr std::size_t kMaxIntent = kMaxFile - 1024 * 1024;  // state.json may become longer
constexpr int kRemoveTries = 20;
constexpr timeval kInitPatience{.tv_sec = 10, .tv_usec = 0};

// The path of a state root may be longer than sun_path, so the address names the descriptor.
sockaddr_un address_in(Fd directory, const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory.value, name);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> make_start_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return fail(errno, "make the start socket");
  return socket;
}

// The files that ocirun makes in a state directory, and the temporary names of replace_file().
bool is_own_name(std::string_view name) {
  const auto is_it = [name](std::string_view own) {
    return name == own || name.starts_with(fmt::format(".{}.", own));
  };
  return std::ranges::any_of(kFiles, is_it) || std::ranges::any_of(kFilesOfDevices, is_it);
}

// Removes files and directories. ocirun makes no directory in a state directory, but a directory
// that somebody else made must not prevent the removal.
Result<void> remove_entries(Fd directory, int level = 0) {
  if (level == kMostLevels)
    return refuse("directories that ocirun has not made there lie more than {} deep", kMostLevels);
  return linux::for_each_entry(directory, [=](const char* name, unsigned char) -> Result<void> {
    if (::unlinkat(directory.value, name, 0) == 0) return {};
    if (errno == EBUSY && name == std::string_view(kNetworkPin)) return unpin_network(directory);
    if (errno != EISDIR) return {};
    OCIRUN_TRY_ASSIGN(const UniqueFd below,
                      linux::sys::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY(remove_entries(below, level + 1));
    ::unlinkat(directory.value, name, AT_REMOVEDIR);
    return {};
  });
}

}  // namespace

Result<void> StateDirectory::lock(std::chrono::milliseconds patience) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (::flock(directory_.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(errno, "lock {}", path_.string());
    if (std::chrono::steady_clock::now() >= until)
      return fail(EBUSY, "another command works on this container (waited {} s for its lock)",
                  std::chrono::duration<double>(patience).count());
    ::usleep(2000);
  }
}

void StateDirectory::unlock() const { ::flock(directory_.get(), LOCK_UN); }

Result<void> StateDirectory::write_intent(const bundle::IntentRecord& intent) const {
  const std::string text = bundle::intent_text(intent);
  if (text.size() > kMaxIntent)
    return refuse(
        "/annotations: the container's record would have {} bytes, at most {} are possible",
        text.size(), kMaxIntent);
  return linux::replace_file(directory_, kIntent, text, 0600);
}
Result<void> StateDirectory::write_config(std::string_view text) const {
  return linux::replace_file(directory_, kConfig, text, 0600);
}
Result<void> StateDirectory::commit(const bundle::ContainerRecord& record) const {
  return linux::replace_file(directory_, kState, bundle::record_text(record), 0600);
}

// Refuses a record with the id of another container: another user may have written the record.
Result<void> StateDirectory::check_id(std::string_view id) const {
  if (id == name()) return {};
  return refuse("{}: its files are those of another container, {:?}", path_.string(), id);
}

// Follows no symbolic link: another user may have chosen the target, and the opening of a device or
// a FIFO may have effects.
Result<std::string> StateDirectory::read_file(const char* name) const {
  OCIRUN_TRY_ASSIGN(const std::uint32_t user, owner());
  return linux::read_file(directory_, name, user == ::geteuid() ? kMaxFile : kMaxForeignFile,
                          O_NOFOLLOW);
}

Result<bundle::IntentRecord> StateDirectory::read_intent() const {
  OCIRUN_TRY_ASSIGN(const std::string text, read_file(kIntent));
  auto intent = bundle::parse_intent(text);
  if (intent) OCIRUN_TRY(check_id(intent->record.id));
  return intent;
}
Result<std::string> StateDirectory::read_config() const { return read_file(kConfig); }
Result<bundle::Config> StateDirectory::read_snapshot(const std::string& bundle) const {
  OCIRUN_TRY_ASSIGN(const std::string text, read_config());
  return bundle::parse_config(text, HostPath(bundle)).take();
}
Result<void> StateDirectory::write_resources(const cgroups::Resources& resources) const {
  return linux::replace_file(directory_, kResources, bundle::resources_text(resources), 0600);
}
Result<std::optional<cgroups::Resources>> StateDirectory::read_resources() const {
  const auto text = read_file(kResources);
  if (!text && text.error().number() == ENOENT) return std::nullopt;
  OCIRUN_TRY(text);
  std::vector<std::string> warnings;
  return within(bundle::parse_resources(*text, warnings), path_.string() + "/" + kResources);
}
Result<void> StateDirectory::write_filter(std::string_view bytes) const {
  return linux::replace_file(directory_, kFilter, bytes, 0600);
}
Result<std::string> StateDirectory::read_filter() const { return read_file(kFilter); }
Result<bundle::ContainerRecord> StateDirectory::read_record() const {
  OCIRUN_TRY_ASSIGN(const std::string text, read_file(kState));
  auto record = within(bundle::parse_record(text), path_.string() + "/" + kState);
  if (record) OCIRUN_TRY(check_id(record->id));
  return record;
}

Result<UniqueFd> StateDirectory::listen_for_start() const {
  OCIRUN_TRY_ASSIGN(UniqueFd socket, make_start_socket());
  const sockaddr_un address = address_in(directory_, kStartSocket);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), 1) != 0)
    return fail(errno, "listen on {}/{}", path_.string(), kStartSocket);
  return socket;
}

Result<UniqueFd> StateDirectory::connect_to_start() const {
  OCIRUN_TRY_ASSIGN(UniqueFd socket, make_start_socket());
  // Limits the wait of connect(2), which waits while the backlog is full. The connection of a
  // `start` that was killed stays in the backlog until init accepts the connection.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kInitPatience, sizeof(kInitPatience));
  const sockaddr_un address = address_in(directory_, kStartSocket);
  int done = 0;
  do {
    done = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  } while (done != 0 && errno == EINTR);
  if (done != 0 && errno == EAGAIN)
    return refuse("connect to {}/{}: init has not accepted for {} s; has a signal stopped it?",
                  path_.string(), kStartSocket, kInitPatience.tv_sec);
  if (done != 0) return fail(errno, "connect to {}/{}", path_.string(), kStartSocket);
  return socket;
}

Result<UniqueFd> StateDirectory::listen_for_notifications() const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_in(directory_, kNotifySocket);
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::fchmodat(directory_.get(), kNotifySocket, 0666, 0) != 0)  // for all users of the container
    return fail(errno, "listen on {}/{}", path_.string(), kNotifySocket);
  return socket;
}

Result<std::string> StateDirectory::notify_socket() const {
  std::array<char, PATH_MAX> path{};  // --root may be relative
  if (::realpath(path_.c_str(), path.data()) == nullptr) return fail(errno, "{}", path_.string());
  return std::string(path.data()) + "/" + kNotifySocket;
}

bool StateDirectory::holds(const char* name) const {
  struct stat status{};
  return ::fstatat(directory_.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}
bool StateDirectory::is_committed() const { return holds(kState); }
bool StateDirectory::is_state() const {
  return std::ranges::any_of(kFiles, [this](const char* name) { return holds(name); }) ||
         check_is_state();
}
bool StateDirectory::awaits_start() const { return holds(kStartSocket); }

void StateDirectory::forget_start() const { ::unlinkat(directory_.get(), kStartSocket, 0); }

Result<std::uint32_t> StateDirectory::owner() const {
  if (!owner_) {
    OCIRUN_TRY_ASSIGN(owner_, within(linux::owner_of(directory_), path_.string()));
  }
  return *owner_;
}

Result<std::string> StateDirectory::identity() const {
  struct statx status{};
  if (::statx(directory_.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0)
    return fail(errno, "{}", path_.string());
  return fmt::format("{} {}:{} {} {}.{:09} ", name(), status.stx_dev_major, status.stx_dev_minor,
                     status.stx_ino, status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
}

bool StateDirectory::exists() const {
  struct stat status{};
  return ::fstat(directory_.get(), &status) == 0 && status.st_nlink > 0;
}

Result<void> StateDirectory::check_is_state() const {
  return linux::for_each_entry(directory_, [this](const char* name, unsigned char) -> Result<void> {
    if (is_own_name(name)) return {};
    return refuse(
        "{} is no container's state: it holds {:?}, which ocirun did not put there; is --root "
        "right? Nothing was removed",
        path_.string(), name);
  });
}

Result<void> StateDirectory::remove() const {
  const auto unlink = [this](const char* name) { ::unlinkat(directory_.get(), name, 0); };
  // A path relative to this directory, because path_ may lead elsewhere by now.
  const std::string beside = "../" + name();
  // Removes first the files that each container has, then the other known names, then the names
  // that the directory lists. The known names need no new descriptor, and RLIMIT_NOFILE may leave
  // none for the listing. The tries repeat the listing: a `create` that is being killed may still
  // make files here.
  const std::span files(kFiles);
  for (int tries = 0; tries < kRemoveTries; ++tries) {
    if (tries == 0)
      std::ranges::for_each(files.first(kFilesOfEach), unlink);
    else if (tries == 1)
      std::ranges::for_each(files.subspan(kFilesOfEach), unlink);
    else
      OCIRUN_TRY(within(remove_entries(directory_), path_.string()));
    if (!exists()) return {};  // removed by another `delete`; a new container may have the name
    if (::unlinkat(directory_.get(), beside.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT)
      return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return fail(errno, "remove {}", path_.string());
  }
  return fail(ENOTEMPTY, "remove {}", path_.string());
}

}  // namespace ocirun::runtime
