#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ocirun::pods {

/// The privileges of a container's process, as far as the document sets them (AC-18, runAsUser, …).
struct Security {
  std::optional<std::vector<std::string>> retained_capabilities;  // the container has only these
  std::vector<std::string> added_capabilities;                    // the container has these besides
  std::vector<std::string>
      removed_capabilities;           // the container has the default ones without these
  bool removes_capabilities = false;  // whether there is a remove set, which may be empty

  /// System calls by name; "@appc.io/all" and "@appc.io/empty" name sets.
  struct SystemCalls {
    bool allowed = false;  // true: only these are allowed; false: all but these are
    std::vector<std::string> names;
    std::string
        errno_name;  // the errno of a call that is not allowed; "": such a call kills the process
  };
  std::optional<SystemCalls> system_calls;

  std::optional<bool> no_new_privileges;
  std::string apparmor_profile, selinux_label;
  std::optional<int> oom_score_adj;  // -1000 to 1000
  std::optional<unsigned> cpu_shares;
};

}  // namespace ocirun::pods
