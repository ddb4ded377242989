#include "runtime/checkpoint/options.hpp"

#include <fcntl.h>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {

Result<std::vector<std::string>> words_of_config_file(const bundle::Config& config) {
  constexpr const char* kOfEngines = "/etc/criu/runc.conf";
  std::string path;
  if (const auto named = config.annotations.find("org.criu.config");
      named != config.annotations.end()) {
    path = named->second;
    if (path.empty()) return std::vector<std::string>{};
    if (!path.starts_with('/'))
      return refuse("/annotations/org.criu.config: \"{}\" must be an absolute path", path);
  } else if (linux::sys::open(kOfEngines, O_PATH)) {
    path = kOfEngines;
  }
  if (path.empty()) return std::vector<std::string>{};
  return std::vector<std::string>{"config=" + path};
}

}  // namespace ocirun::runtime
