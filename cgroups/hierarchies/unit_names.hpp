#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// An instance of systemd: the one of the host, or the one of an ordinary user.
enum class SystemdInstance { kSystem, kUser };

/// A container's scope as `slice:prefix:name` names it.
struct ScopeName {
  std::string slice;  // "machine.slice"; "-.slice" is the root
  std::string unit;   // "libpod-web.scope"
  friend bool operator==(const ScopeName&, const ScopeName&) = default;
};

/// Parses `cgroups_path`, "slice:prefix:name". Empty slice: system.slice, or user.slice for a
/// user's instance; "-" is the root slice. Empty prefix: the unit is NAME.scope. An absent
/// `cgroups_path` means the default slice, the prefix "ocirun" and the id, whose "+" is escaped as
/// systemd-escape(1) does. Errors: another shape; a slice or a unit name that systemd does not
/// accept.
Result<ScopeName> name_scope(const std::optional<std::string>& cgroups_path, const std::string& id,
                             SystemdInstance instance);

/// The path of a slice's cgroup: "/a.slice/a-b.slice" for "a-b.slice", "" for "-.slice". Errors:
/// not the name of a slice.
Result<std::string> expand_slice(std::string_view slice);

/// Whether systemd accepts `unit` as the name of a scope.
bool is_scope_name(std::string_view unit);
/// Whether `unit` is the name of a slice other than the root slice.
bool is_slice_name(std::string_view unit);

/// Escapes `text` as systemd-escape(1) does, so that it is one part of a slice's name: every
/// character but letters, digits, ":", "_" and "." becomes \xXX.
std::string escape_slice_part(std::string_view text);

}  // namespace ocirun::cgroups
