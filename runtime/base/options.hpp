#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::runtime {

enum class LogFormat { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };
/// The words of --log-level. The first name of a level is the one in the log.
inline constexpr linux::Named<LogLevel> kLogLevelNames[] = {
    {"debug", LogLevel::kDebug},  {"info", LogLevel::kInfo},   {"warning", LogLevel::kWarning},
    {"warn", LogLevel::kWarning}, {"error", LogLevel::kError},
};
using CgroupManager = cgroups::Manager;
enum class Rootless { kAuto, kYes, kNo };

/// The options before the command.
struct GlobalOptions {
  HostPath root;  // the state root
  bool root_is_explicit = false;
  std::string log;  // a file, or "" for none
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
  CgroupManager cgroup_manager = CgroupManager::kCgroupfs;
  Rootless rootless = Rootless::kAuto;
  std::string criu = {};  // --criu, or "": searched for
};

/// The facts about the caller on which the default state root depends.
struct Caller {
  bool host_root = false;              // root of the initial user namespace
  bool namespace_root = false;         // root of another one, such as podman's
  std::uint32_t user = 0;              // effective user id; for namespace_root, the id outside
  std::string runtime_directory;       // $XDG_RUNTIME_DIR
  bool user_directory_exists = false;  // /run/user/<user>
};
Caller read_caller();
std::string user_directory(std::uint32_t user);

/// The default state root. Root of the host has /run/ocirun. Others have $XDG_RUNTIME_DIR/ocirun; a
/// variable that is empty or relative counts as unset (XDG). Without the variable they have
/// /run/user/<user>/ocirun, so that root of podman's user namespace and the user outside of it find
/// the same directory. Root of a namespace whose user is root too, or has no /run/user/<user> (an
/// outer container), has /run/ocirun.
std::string state_root_for(const Caller& caller);
HostPath default_state_root();

/// Whether this process is root of the initial user namespace. To be asked before the process
/// enters another user namespace: "true" is remembered, and returned as long as the pid is the
/// same.
bool is_host_root();

/// Whether this process is root, and root outside its user namespace too: see
/// linux::is_root_outside().
bool is_root_outside();

/// The things that a container's process inherits from the caller of ocirun, beside the standard
/// streams.
struct Inheritance {
  mode_t umask = 022;                    // the caller's, for a document without umask (P-20)
  int listening_sockets = 0;             // LISTEN_FDS: descriptors from 3 on (LG-2)
  int preserved_descriptors = 0;         // --preserve-fds: the descriptors behind these sockets
  linux::CommandLine command_line = {};  // ocirun's, which the container's process must not show

  /// The number of inherited descriptors; the first one is 3.
  int descriptors() const { return listening_sockets + preserved_descriptors; }
  std::vector<Fd> descriptor_list() const {
    std::vector<Fd> list;
    for (int i = 0; i < descriptors(); ++i) list.push_back(Fd{3 + i});
    return list;
  }
};

}  // namespace ocirun::runtime
