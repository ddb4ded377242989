#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/record.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

#include "criu/dump/check.hpp"
#include "criu/dump/images.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// --manage-cgroups-mode: what happens to cgroups below the container's, and to saved limits.
/// kSoft: CRIU makes the cgroups below again, and the limits are those of config.json.
/// kFull: CRIU also writes the limits that it has saved.
/// kStrict: as kFull, and the container's cgroup must not exist before.
/// kIgnore: nothing is saved, and all processes are restored in the container's cgroup itself.
enum class CgroupMode { kSoft, kFull, kStrict, kIgnore };

inline constexpr std::string_view kCgroupModes = "soft|full|strict|ignore";
/// Nothing for a text that is none of kCgroupModes.
std::optional<CgroupMode> parse_cgroup_mode(std::string_view text);
/// The mode that CRIU is told for `mode`: its name, but "full" for kStrict. In its own mode
/// "strict" CRIU fails if a cgroup exists, and `restore` has made the container's cgroup by then.
/// Nothing is below this new cgroup, so that "full" finds no older cgroup either.
std::string_view criu_mode(CgroupMode mode);
/// Error for kStrict: a directory of `planned` exists.
Result<void> check_absence(const cgroups::Record& planned, CgroupMode mode);

/// The options that `checkpoint` and `restore` share.
struct CriuSettings {
  HostPath images;  // absolute
  HostPath work;    // absolute; where CRIU writes its log
  CgroupMode cgroups = CgroupMode::kSoft;
  bool keeps_network = false;      // --keep-network: devices, addresses, routes and rules are saved
  std::vector<std::string> words;  // switches of CRIU, such as "auto-dedup=1", which ocirun-criu
                                   // passes on unchanged

  /// Whether --auto-dedup is given. `checkpoint` then removes pages of memory from older images if
  /// the new images have them too, and `restore` removes each page that it has read.
  bool removes_pages() const;
  /// kIgnored for CgroupMode::kIgnore, else kMade.
  SavedCgroups saved_cgroups() const;
};

/// The options for ocirun-criu that `checkpoint` and `restore` give alike, as words: the mode of
/// cgroups, such as "manage-cgroups-mode=soft", and without --keep-network "empty-ns=" with the
/// number of the network namespace. CRIU then takes this namespace for empty: it neither saves nor
/// restores devices, addresses, routes and rules. With `ignores_cgroups` the mode is "ignore",
/// whatever settings.cgroups says.
///
/// Without --keep-network the namespace counts as empty for two reasons. CRIU restores its content
/// by programs of the host (iptables-restore, ip, nft), which would read the images. And hooks and
/// linux.netDevices make the devices anew, so that CRIU would make them a second time. runc leaves
/// the content out too.
std::vector<std::string> words_of_settings(const CriuSettings& settings, bool ignores_cgroups);

/// Error: --keep-network, and the images have no network devices. A warning: the images have
/// network devices, and --keep-network is not given. Nothing is compared for a container that joins
/// a network namespace or has the host's.
Result<void> check_saved_network(const Images& images, const bundle::Config& config,
                                 const CriuSettings& settings, const Log& log);

}  // namespace ocirun::runtime
