#include "runtime/checkpoint/options.hpp"

#include <fcntl.h>
#include <sched.h>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {

std::vector<std::string> words_of_surroundings(const CriuSettings& settings, bool ignores_cgroups) {
  const CgroupMode mode = ignores_cgroups ? CgroupMode::kIgnore : settings.cgroups;
  std::vector<std::string> words{fmt::format("manage-cgroups-mode={}", crius_mode(mode))};
  if (!settings.keeps_network) words.push_back(fmt::format("empty-ns={}", CLONE_NEWNET));
  return words;
}

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
