#include "linux/process/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

// <linux/landlock.h>: that of Debian 12 is older than ports and scopes.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;
constexpr int kPort = 2;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;   // since version 4
  std::uint64_t scopes = 0;  // since version 6
};
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};
struct PortRule {
  std::uint64_t allowed = 0;
  std::uint64_t port = 0;
};

constexpr std::uint64_t kExecute = 1, kWriteFile = 2, kReadFile = 4, kReadDirectory = 8;
constexpr std::uint64_t kTruncate = 1 << 14, kIoctlDevice = 1 << 15;
constexpr std::uint64_t kRead = kExecute | kReadFile | kReadDirectory;
/// The rights that a rule on a file may have; the others are of directories.
constexpr std::uint64_t kOfFile = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;
constexpr std::uint64_t kBind = 1, kConnect = 2;
constexpr std::uint64_t kScopeSockets = 1, kScopeSignals = 2;

constexpr int kWithTruncate = 3, kWithPorts = 4, kWithIoctl = 5, kWithScopes = 6;

/// All rights in the file system that a version knows. Version 2 added the right to link and rename
/// between directories.
std::uint64_t file_rights(int version) {
  constexpr std::uint64_t kOfVersion3 = (std::uint64_t{1} << 15) - 1;
  return version >= kWithIoctl ? kOfVersion3 | kIoctlDevice : kOfVersion3;
}

Result<void> add_path(Fd ruleset, const std::string& path, std::uint64_t rights) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::open(path.c_str(), O_PATH));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(file));
  if (!S_ISDIR(info.st_mode)) rights &= kOfFile;
  const PathRule rule{.allowed = rights, .parent = file.get()};
  if (::syscall(kAddRule, ruleset.value, kPathBeneath, &rule, 0) != 0)
    return fail(errno, "allow the path");
  return {};
}

Result<void> add_paths(Fd ruleset, const std::optional<std::vector<std::string>>& paths,
                       std::uint64_t rights) {
  for (const std::string& path : paths.value_or(std::vector<std::string>()))
    OCIRUN_TRY(within(add_path(ruleset, path, rights), "{}", path));
  return {};
}

Result<void> add_ports(Fd ruleset, const std::optional<std::vector<std::uint16_t>>& ports,
                       std::uint64_t right) {
  for (const std::uint16_t port : ports.value_or(std::vector<std::uint16_t>())) {
    const PortRule rule{.allowed = right, .port = port};
    if (::syscall(kAddRule, ruleset.value, kPort, &rule, 0) != 0)
      return fail(errno, "allow port {}", port);
  }
  return {};
}

/// The kernel refuses a structure that is longer than its own, unless the rest is zero.
Result<UniqueFd> make_ruleset(const LandlockRules& rules, int version) {
  Ruleset ruleset;
  if (rules.restricts_files()) ruleset.files = file_rights(version);
  if (rules.binds) ruleset.ports |= kBind;
  if (rules.connects) ruleset.ports |= kConnect;
  if (rules.scopes_signals) ruleset.scopes |= kScopeSignals;
  if (rules.scopes_sockets) ruleset.scopes |= kScopeSockets;
  UniqueFd made(static_cast<int>(::syscall(kCreateRuleset, &ruleset, sizeof(ruleset), 0)));
  if (!made) return fail(errno, "make a ruleset");
  return made;
}

Result<void> needs(bool is_asked, const char* what, int version, const char* release) {
  const int found = landlock_version();
  if (!is_asked || found >= version) return {};
  if (found == 0)
    return refuse(
        "{}: the kernel has no Landlock, or it is not in the list of security modules (lsm=)",
        what);
  return refuse("{}: needs version {} of Landlock (Linux {}); this kernel has version {}", what,
                version, release, found);
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

// Version 2 and older do not restrict truncate(2), which would empty files that must not be
// written.
Result<void> check_landlock(const LandlockRules& rules) {
  OCIRUN_TRY(needs(rules.restricts_files(), "rules for paths", kWithTruncate, "6.2"));
  OCIRUN_TRY(needs(rules.restricts_ports(), "rules for ports", kWithPorts, "6.7"));
  return needs(rules.scopes_signals || rules.scopes_sockets, "scopes", kWithScopes, "6.12");
}

Result<void> restrict_by_landlock(const LandlockRules& rules) {
  OCIRUN_TRY(check_landlock(rules));
  const int version = landlock_version();
  OCIRUN_TRY_ASSIGN(const UniqueFd ruleset, make_ruleset(rules, version));
  OCIRUN_TRY(within(add_paths(ruleset, rules.readable, kRead), "read"));
  OCIRUN_TRY(within(add_paths(ruleset, rules.writable, file_rights(version)), "write"));
  OCIRUN_TRY(within(add_ports(ruleset, rules.binds, kBind), "bind"));
  OCIRUN_TRY(within(add_ports(ruleset, rules.connects, kConnect), "connect"));
  if (::syscall(kRestrictSelf, ruleset.get(), 0) != 0) return fail(errno, "restrict the process");
  return {};
}

}  // namespace ocirun::linux
