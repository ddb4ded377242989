#include "pods/images/registry/pull.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/registry/receive.hpp"
#include "pods/images/registry/skopeo.hpp"
#include "pods/images/store_locks.hpp"
#include "pods/images/stored_layout.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// The name of the lock that a process holds while it fetches the image. No layer has this digest.
Digest lock_of(const Origin& origin) { return digest_of("pull " + origin.name); }

/// The name of the directory for one pull: the digits of the lock, the pid, and the time.
std::string directory_name(const Digest& lock) {
  return fmt::format("{}-{}-{}", lock.hex(), ::getpid(),
                     std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Removes the directories of pulls whose processes have ended: nobody holds the lock any more. If
/// a directory cannot be removed now, the next pull or prune removes it. `own`: the caller's lock.
Result<void> remove_leftovers(const Store& store, Fd incoming, const Digest& own) {
  std::vector<std::string> names;
  OCIRUN_TRY(linux::for_each_entry(incoming, [&](const char* name, unsigned char) -> Result<void> {
    names.emplace_back(name);
    return {};
  }));
  OCIRUN_TRY_ASSIGN(LayerLocks locks, LayerLocks::open(store.fd()));
  for (const std::string& name : names) {
    const auto lock = Digest::parse("sha256:" + name.substr(0, name.find('-')));
    const bool is_own = lock && *lock == own;
    if (lock && !is_own && !locks.try_take(*lock).value_or(false)) continue;
    ignore(linux::remove_tree(incoming, name.c_str()));
    if (lock && !is_own) locks.release(*lock);
  }
  return {};
}

Result<void> pull_alone(const Store& store, const Origin& origin, const PullRequest& request) {
  const Digest lock = lock_of(origin);
  OCIRUN_TRY_ASSIGN(const UniqueFd incoming, open_incoming(store));
  OCIRUN_TRY(remove_leftovers(store, incoming, lock));
  const std::string name = directory_name(lock);
  OCIRUN_TRY(sys::mkdirat(incoming, name.c_str(), 0700));
  auto pulled = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                      sys::openat(incoming, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const HostPath path(fmt::format("{}/{}/{}", store.path().string(), kIncoming, name));
    return receive(store, origin, request, directory, path);
  }();
  const auto removed = linux::remove_tree(incoming, name.c_str());
  return pulled ? removed : pulled;
}

/// Whether the store has the image with all its blobs. An image that is incomplete or damaged is
/// pulled again.
Result<bool> is_pulled(const Store& store, const Origin& origin) {
  OCIRUN_TRY_ASSIGN(const auto source, open_pulled(store));
  if (!source) return false;
  const auto image = source->find({.reference = origin.name});
  return image && std::ranges::all_of(image->layers, [&](const LayerBlob& layer) {
           return source->open_layer(layer).has_value();
         });
}

/// Takes the lock, and says on the terminal if another process has it.
Result<void> take_lock(LayerLocks& locks, const Origin& origin, Fd terminal) {
  const Digest lock = lock_of(origin);
  OCIRUN_TRY_ASSIGN(const bool is_free, locks.try_take(lock));
  if (is_free) return {};
  if (terminal.value >= 0)
    ignore(linux::write_all(
        terminal,
        fmt::format("ocirun: another process pulls {}, this one waits\n", origin.shown())));
  return locks.take(lock);
}

Result<void> pull_or_find(const Store& store, const Origin& origin, const PullRequest& request) {
  const bool is_local = !origin.in_registry.has_value();
  const bool may_find =
      request.policy == PullPolicy::kNever || (request.policy == PullPolicy::kMissing && !is_local);
  OCIRUN_TRY_ASSIGN(bool is_there, is_pulled(store, origin));
  if (may_find && is_there) return {};
  if (request.policy == PullPolicy::kNever)
    return refuse(
        "the store has no such image, and nothing may be pulled (--pull never, or the "
        "document's imagePullPolicy): `ocirun pod pull {}` fetches it",
        origin.address);
  // skopeo ends a path at the first ":".
  if (store.path().string().contains(':'))
    return refuse("the path {} of the store has a \":\": --data names another directory",
                  store.path().string());
  OCIRUN_TRY_ASSIGN(LayerLocks locks, LayerLocks::open(store.fd()));
  OCIRUN_TRY(take_lock(locks, origin, request.pulling.terminal));
  OCIRUN_TRY_ASSIGN(is_there, is_pulled(store, origin));
  if (may_find && is_there) return {};
  auto pulled = pull_alone(store, origin, request);
  if (pulled) return {};
  const std::string advice =
      advice_for(pulled.error().message(), origin.in_registry ? origin.in_registry->host : "");
  return refuse("{}{}", pulled.error().message(), advice);
}

}  // namespace

Result<void> pull(const Store& store, const Origin& origin, const PullRequest& request) {
  auto pulled = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd lease, store.lock());
    return pull_or_find(store, origin, request);
  }();
  return within(std::move(pulled), "pull {}", origin.shown());
}

}  // namespace ocirun::pods
