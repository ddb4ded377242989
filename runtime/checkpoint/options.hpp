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
};

/// The words for the options that both commands treat alike: cgroups, and what is in the network
/// namespace. CRIU leaves that out for the option "empty-ns". `ignores_cgroups` goes before the
/// mode.
std::vector<std::string> words_of_surroundings(const CriuSettings& settings, bool ignores_cgroups);

/// The words for the configuration file of CRIU that the annotation org.criu.config names, or else
/// for /etc/criu/runc.conf if that file exists. Error: the annotation's path is not absolute.
Result<std::vector<std::string>> words_of_config_file(const bundle::Config& config);

}  // namespace ocirun::runtime
