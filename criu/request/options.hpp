#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/record.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

#include "criu/images/check.hpp"
#include "criu/images/images.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// --manage-cgroups-mode: what happens to cgroups below the container's, and to saved limits.
/// kSoft: CRIU makes those below again, and the limits are those of config.json.
/// kFull: CRIU also writes the limits that it has saved.
/// kStrict: as kFull, and the container's cgroup must not exist before.
/// kIgnore: nothing is saved, and all processes are restored in the container's cgroup itself.
enum class CgroupMode { kSoft, kFull, kStrict, kIgnore };

inline constexpr std::string_view kCgroupModes = "soft|full|strict|ignore";
/// Nothing for a text that is none of kCgroupModes.
std::optional<CgroupMode> parse_cgroup_mode(std::string_view text);
/// The mode for CRIU. Its own "strict" refuses the cgroup that `restore` makes for the container,
/// and which is empty: below it, "full" is strict.
std::string_view criu_mode(CgroupMode mode);
/// Error for kStrict: a directory of `planned` exists.
Result<void> check_absence(const cgroups::Record& planned, CgroupMode mode);

/// The options that `checkpoint` and `restore` share. What is not named here is a switch of CRIU.
struct CriuSettings {
  HostPath images;  // absolute
  HostPath work;    // absolute; where CRIU writes its log
  CgroupMode cgroups = CgroupMode::kSoft;
  bool keeps_network = false;      // what is in the container's network namespace, too
  std::vector<std::string> words;  // options for ocirun-criu that pass through unchanged

  /// --auto-dedup: CRIU removes from the images the pages that it has read, or that newer images
  /// have.
  bool removes_pages() const;
  /// By `cgroups`.
  SavedCgroups saved_cgroups() const;
};

/// The words for the options that both commands treat alike: cgroups, and what is in the network
/// namespace. CRIU leaves that out for the option "empty-ns". `ignores_cgroups` overrides
/// settings.cgroups.
std::vector<std::string> words_of_surroundings(const CriuSettings& settings, bool ignores_cgroups);

// CRIU restores what was in a network namespace by programs of the host (iptables-restore, ip, nft)
// that read the images, and makes devices that hooks and linux.netDevices make as well. So ocirun
// saves and restores none of it without --keep-network, as runc does.

/// Error: --keep-network, and the images have no network devices. A warning: the other way round.
/// Nothing is compared for a container that joins a network namespace or has the host's.
Result<void> check_saved_network(const Images& images, const bundle::Config& config,
                                 const CriuSettings& settings, const Log& log);

}  // namespace ocirun::runtime
