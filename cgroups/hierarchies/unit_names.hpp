#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// Which systemd: the host's, or the one of an ordinary user.
enum class SystemdInstance { kSystem, kUser };

/// A container's scope as `slice:prefix:name` names it.
struct ScopeName {
  std::string slice;  // "machine.slice"; "-.slice" is the root
  std::string unit;   // "libpod-web.scope"
  friend bool operator==(const ScopeName&, const ScopeName&) = default;
};

/// `slice` empty: system.slice, or user.slice of a user's instance; "-" is the root slice; `prefix`
/// empty: NAME.scope. Absent: the default slice, "ocirun" and the id, whose "+" is escaped as
/// systemd-escape(1) does. Errors: another shape, what systemd takes for no slice or no unit name.
Result<ScopeName> name_scope(const std::optional<std::string>& cgroups_path, const std::string& id,
                             SystemdInstance instance);

/// Where a slice's cgroup is: "a-b.slice" at "/a.slice/a-b.slice", "-.slice" at "". Errors: no
/// slice's name.
Result<std::string> expand_slice(std::string_view slice);

/// Whether systemd could have a scope of that name.
bool is_scope_name(std::string_view unit);

}  // namespace ocirun::cgroups
