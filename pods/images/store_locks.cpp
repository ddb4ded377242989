#include "pods/images/store_locks.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <charconv>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kLocks = "lock";
constexpr const char* kLease = "lease";
constexpr std::size_t kDigits = 15;  // of the chain id: 60 bits, which an off_t can hold

Result<UniqueFd> open_lock_file(Fd store, const char* name) {
  return linux::sys::openat(store, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
}

struct ::flock lock_of(const Digest& chain_id, short type) {
  struct ::flock lock{};
  const char* const digits = chain_id.hex().data();
  const auto count = std::min(kDigits, chain_id.hex().size());
  std::from_chars(digits, digits + count, lock.l_start, 16);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<LayerLocks> LayerLocks::open(Fd store) {
  OCIRUN_TRY_ASSIGN(UniqueFd file, open_lock_file(store, kLocks));
  return LayerLocks(std::move(file));
}

Result<void> LayerLocks::take(const Digest& chain_id) {
  struct ::flock lock = lock_of(chain_id, F_WRLCK);
  while (::fcntl(file_.get(), F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) return fail(errno, "lock a layer of the image store");
  return {};
}

Result<bool> LayerLocks::try_take(const Digest& chain_id) {
  struct ::flock lock = lock_of(chain_id, F_WRLCK);
  if (::fcntl(file_.get(), F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return fail(errno, "lock a layer of the image store");
}

void LayerLocks::release(const Digest& chain_id) {
  struct ::flock lock = lock_of(chain_id, F_UNLCK);
  ::fcntl(file_.get(), F_OFD_SETLK, &lock);
}

Result<UniqueFd> lock_store_shared(Fd store) {
  OCIRUN_TRY_ASSIGN(UniqueFd file, open_lock_file(store, kLease));
  while (::flock(file.get(), LOCK_SH) != 0)
    if (errno != EINTR) return fail(errno, "lock the image store");
  return file;
}

Result<UniqueFd> lock_store_alone(Fd store, std::chrono::milliseconds patience) {
  OCIRUN_TRY_ASSIGN(UniqueFd file, open_lock_file(store, kLease));
  linux::Patience left(patience);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(errno, "lock the image store");
    if (!left.wait())
      return refuse(
          "other programs have added or used images in the store during the last {} ms: try again "
          "when they have started their containers",
          patience.count());
  }
  return file;
}

}  // namespace ocirun::pods
