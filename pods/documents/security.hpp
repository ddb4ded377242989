#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ocirun::pods {

/// What a container's process may do, as far as a document speaks of it (AC-18, runAsUser, …).
struct Security {
  std::optional<std::vector<std::string>> retained_capabilities;  // these and no others
  std::vector<std::string> removed_capabilities;                  // the default ones without these

  /// System calls by name; "@appc.io/all", "@appc.io/empty" and "@docker/default-whitelist" name
  /// sets.
  struct SystemCalls {
    bool allowed = false;  // true: only these are allowed; false: all but these are
    std::vector<std::string> names;
    std::string errno_name;  // what a call that is not allowed returns; "": the process is killed
  };
  std::optional<SystemCalls> system_calls;

  std::optional<bool> no_new_privileges;
  std::string apparmor_profile, selinux_label;
  std::optional<int> oom_score_adj;  // -1000 to 1000
  std::optional<unsigned> cpu_shares;
};

}  // namespace ocirun::pods
