#include "runtime/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "linux/error.hpp"
#include "linux/id_map.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::runtime {

bool is_host_root() {
  if (::geteuid() != 0) return false;
  const auto map = linux::sys::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  if (!map) return true;  // a kernel without user namespaces
  const auto text = linux::sys::read_all(*map, 64 * 1024);
  return !text || text->find("4294967295") != std::string::npos;
}

std::string state_root_for(const Caller& caller) {
  constexpr std::string_view kOfRoot = "/run/ocirun";
  if (caller.host_root) return std::string(kOfRoot);
  if (caller.runtime_directory.starts_with('/')) return caller.runtime_directory + "/ocirun";
  if (!caller.user_directory_exists && caller.namespace_root) return std::string(kOfRoot);
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
    const auto map = linux::sys::open("/proc/self/uid_map", O_RDONLY);
    const auto text = map ? linux::sys::read_all(*map, 64 * 1024) : std::string();
    const linux::IdMap own{.uids = linux::parse_id_map(text.value_or("")), .gids = {}};
    caller.user = own.host_uid(Uid{}).value_or(0);
  }
  caller.user_directory_exists =
      linux::sys::open(user_directory(caller.user).c_str(), O_PATH | O_DIRECTORY).has_value();
  return caller;
}

HostPath default_state_root() { return HostPath(state_root_for(read_caller())); }

}  // namespace ocirun::runtime
