#include "criu/request/options.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

bool has_word(const std::vector<std::string>& words, std::string_view start) {
  return std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(start); });
}

constexpr linux::Named<CgroupMode> kModes[] = {{"soft", CgroupMode::kSoft},
                                               {"full", CgroupMode::kFull},
                                               {"strict", CgroupMode::kStrict},
                                               {"ignore", CgroupMode::kIgnore}};

}  // namespace

bool CriuSettings::removes_pages() const { return has_word(words, "auto-dedup=1"); }

SavedCgroups CriuSettings::saved_cgroups() const {
  return cgroups == CgroupMode::kIgnore ? SavedCgroups::kIgnored : SavedCgroups::kMade;
}

std::vector<std::string> words_of_settings(const CriuSettings& settings, bool ignores_cgroups) {
  const CgroupMode mode = ignores_cgroups ? CgroupMode::kIgnore : settings.cgroups;
  std::vector<std::string> words{fmt::format("manage-cgroups-mode={}", criu_mode(mode))};
  if (!settings.keeps_network) words.push_back(fmt::format("empty-ns={}", CLONE_NEWNET));
  return words;
}

std::optional<CgroupMode> parse_cgroup_mode(std::string_view text) {
  return linux::value_of(kModes, text);
}

std::string_view criu_mode(CgroupMode mode) {
  return linux::name_of(kModes, mode == CgroupMode::kStrict ? CgroupMode::kFull : mode);
}

Result<void> check_absence(const cgroups::Record& planned, CgroupMode mode) {
  if (mode != CgroupMode::kStrict) return {};
  for (const auto& [controllers, directory] : planned.directories)
    if (linux::sys::open(directory.c_str(), O_PATH))
      return refuse(
          "--manage-cgroups-mode strict: the cgroup {} exists: remove it, or give soft or full",
          directory);
  return {};
}

Result<void> check_saved_network(const Images& images, const bundle::Config& config,
                                 const CriuSettings& settings, const Log& log) {
  if (!config.namespaces.creates(linux::NamespaceKind::kNetwork)) return {};
  const bool are_there = images.has_network_devices;
  if (are_there && !settings.keeps_network)
    log.warn(
        "the images hold what was in the network namespace, which is not restored: give "
        "--keep-network to restore devices, addresses, routes and rules");
  if (!are_there && settings.keeps_network)
    return refuse(
        "--keep-network: the images do not hold what was in the network namespace: leave the "
        "option out, or give it to checkpoint as well");
  return {};
}

}  // namespace ocirun::runtime
