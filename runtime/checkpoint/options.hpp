#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "runtime/checkpoint/cgroup_mode.hpp"

namespace ocirun::runtime {

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
};

/// The words for the options that both commands treat alike: cgroups, and what is in the network
/// namespace. CRIU leaves that out for the option "empty-ns". `ignores_cgroups` overrides
/// settings.cgroups.
std::vector<std::string> words_of_surroundings(const CriuSettings& settings, bool ignores_cgroups);

/// The path of CRIU's configuration file: the annotation org.criu.config names it, or else
/// /etc/criu/runc.conf is used if that file exists. "" for none. Error: the annotation's path is
/// not absolute.
Result<std::string> config_file_of(const bundle::Config& config);

}  // namespace ocirun::runtime
