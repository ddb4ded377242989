#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::pods {

/// What a container's process may do, as far as a document speaks of it (AC-18, runAsUser, …).
struct Security {
  std::optional<std::vector<std::string>> retained_capabilities;  // these and no others
  std::vector<std::string> removed_capabilities;                  // the default ones without these
  bool removes_capabilities = false;  // whether there is a remove set, which may be empty

  /// System calls by name; "@appc.io/all" and "@appc.io/empty" name sets.
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

/// The number of an error by its name, such as "EPERM": all names of POSIX and of Linux. Nothing if
/// Linux has none of that name.
std::optional<int> find_errno(std::string_view name);

}  // namespace ocirun::pods
