#include "runtime/base/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "linux/base/error.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

bool is_host_root() {
  // The pid of a process that was found to be host root. The pid is compared, because a clone of
  // that process may be in another user namespace.
  static std::atomic<pid_t> known = 0;
  if (::geteuid() != 0) return false;
  if (known == ::getpid()) return true;
  if (!linux::is_in_initial_user_namespace()) return false;
  known = ::getpid();
  return true;
}

bool is_root_outside() { return is_host_root() || linux::is_root_outside(); }

std::string state_root_for(const Caller& caller) {
  constexpr std::string_view kOfRoot = "/run/ocirun";
  if (caller.host_root) return std::string(kOfRoot);
  if (caller.runtime_directory.starts_with('/')) return caller.runtime_directory + "/ocirun";
  const bool is_users = caller.user != 0 && caller.user_directory_exists;
  if (!is_users && caller.namespace_root) return std::string(kOfRoot);
  return user_directory(caller.user) + "/ocirun";
}

std::string user_directory(std::uint32_t user) { return fmt::format("/run/user/{}", user); }

Caller read_caller() {
  Caller caller;
  caller.host_root = is_host_root();
  const char* directory = std::getenv("XDG_RUNTIME_DIR");
  if (caller.host_root) return caller;
  if (directory != nullptr) caller.runtime_directory = directory;
  caller.user = ::geteuid();
  caller.namespace_root = caller.user == 0;
  if (caller.namespace_root) {
    const linux::IdMap own{
        .uids = linux::own_id_map(linux::IdKind::kUser).value_or(std::vector<linux::IdMapping>()),
        .gids = {}};
    caller.user = own.host_uid(Uid{}).value_or(0);
  }
  caller.user_directory_exists =
      linux::sys::open(user_directory(caller.user).c_str(), O_PATH | O_DIRECTORY).has_value();
  return caller;
}

HostPath default_state_root() { return HostPath(state_root_for(read_caller())); }

}  // namespace ocirun::runtime
