#include "bundle/config/landlock.hpp"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "linux/base/text.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::bundle {
namespace {

using linux::LandlockRules;

Result<std::vector<std::string>> paths_of(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view path : linux::words(text, ':')) {
    if (!path.starts_with('/'))
      return refuse("{:?}: must be absolute paths, separated by colons", path);
    paths.emplace_back(path);
  }
  return paths;
}

Result<std::vector<std::uint16_t>> ports_of(std::string_view text) {
  std::vector<std::uint16_t> ports;
  for (const std::string_view word : linux::words(text, ',')) {
    const auto port = linux::number(word);
    if (!port || *port > std::numeric_limits<std::uint16_t>::max())
      return refuse("{:?}: must be ports from 0 to 65535, separated by commas", word);
    ports.push_back(static_cast<std::uint16_t>(*port));
  }
  return ports;
}

Result<void> add(LandlockRules& rules, std::string_view name, std::string_view text) {
  if (name == "read") {
    OCIRUN_TRY_ASSIGN(rules.readable, paths_of(text));
  } else if (name == "write") {
    OCIRUN_TRY_ASSIGN(rules.writable, paths_of(text));
  } else if (name == "connect") {
    OCIRUN_TRY_ASSIGN(rules.connects, ports_of(text));
  } else if (name == "bind") {
    OCIRUN_TRY_ASSIGN(rules.binds, ports_of(text));
  } else if (name == "scope") {
    if (text.empty()) return refuse("must be signals, sockets or both, separated by a comma");
    for (const std::string_view word : linux::words(text, ',')) {
      if (word != "signals" && word != "sockets")
        return refuse("{:?}: must be signals, sockets or both, separated by a comma", word);
      (word == "signals" ? rules.scopes_signals : rules.scopes_sockets) = true;
    }
  } else {
    return refuse(
        "is no annotation of ocirun: the last part must be read, write, connect, bind or scope");
  }
  return {};
}

/// The program could replace such a path by a symlink, and the next process that ocirun starts
/// would be allowed what the symlink leads to.
Result<void> refuse_replaceable(const LandlockRules& rules) {
  const std::vector<std::string> none;
  for (const auto* paths : {&rules.readable, &rules.writable})
    for (const std::string& path : paths->value_or(none))
      for (const std::string& writable : rules.writable.value_or(none))
        if (linux::is_below(linux::clean_path(path), linux::clean_path(writable)))
          return refuse(
              "/annotations/{}{}: {:?}: lies below {:?}, which the program may change, and which "
              "allows more already: leave it out",
              kLandlockPrefix, paths == &rules.readable ? "read" : "write", path, writable);
  return {};
}

}  // namespace

Result<std::optional<LandlockRules>> landlock_rules(
    const std::map<std::string, std::string>& annotations) {
  std::optional<LandlockRules> rules;
  for (auto at = annotations.lower_bound(std::string(kLandlockPrefix));
       at != annotations.end() && at->first.starts_with(kLandlockPrefix); ++at) {
    if (!rules) rules.emplace();
    OCIRUN_TRY(
        within(add(*rules, std::string_view(at->first).substr(kLandlockPrefix.size()), at->second),
               "/annotations/{}", at->first));
  }
  if (rules) OCIRUN_TRY(refuse_replaceable(*rules));
  return rules;
}

}  // namespace ocirun::bundle
