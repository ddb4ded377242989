#include "runtime/checkpoint/options.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

bool has_word(const std::vector<std::string>& words, std::string_view start) {
  return std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(start); });
}

}  // namespace

bool CriuSettings::removes_pages() const { return has_word(words, "auto-dedup=1"); }

std::vector<std::string> words_of_surroundings(const CriuSettings& settings, bool ignores_cgroups) {
  const CgroupMode mode = ignores_cgroups ? CgroupMode::kIgnore : settings.cgroups;
  std::vector<std::string> words{fmt::format("manage-cgroups-mode={}", crius_mode(mode))};
  if (!settings.keeps_network) words.push_back(fmt::format("empty-ns={}", CLONE_NEWNET));
  return words;
}

Result<std::string> config_file_of(const bundle::Config& config) {
  constexpr const char* kOfEngines = "/etc/criu/runc.conf";
  const auto named = config.annotations.find("org.criu.config");
  if (named == config.annotations.end())
    return std::string(linux::sys::open(kOfEngines, O_PATH) ? kOfEngines : "");
  const std::string& path = named->second;
  if (!path.empty() && !path.starts_with('/'))
    return refuse("/annotations/org.criu.config: \"{}\" must be an absolute path", path);
  return path;
}

}  // namespace ocirun::runtime
