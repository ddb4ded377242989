#include "runtime/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "linux/error.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::runtime {

bool is_host_root() {
  if (::geteuid() != 0) return false;
  const auto map = linux::sys::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  if (!map) return true;  // a kernel without user namespaces
  const auto text = linux::sys::read_all(*map, 64 * 1024);
  return !text || text->find("4294967295") != std::string::npos;
}

HostPath default_state_root() {
  const char* runtime_directory = std::getenv("XDG_RUNTIME_DIR");
  if (is_host_root()) return HostPath("/run/ocirun");
  if (runtime_directory != nullptr && *runtime_directory != '\0')
    return HostPath(std::string(runtime_directory) + "/ocirun");
  return HostPath(fmt::format("/run/user/{}/ocirun", ::geteuid()));
}

}  // namespace ocirun::runtime
