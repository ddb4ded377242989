#include "runtime/init/executable.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <unordered_map>

#include "linux/base/file_io.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/text.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/interpreter.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::string_view kDefaultPath = "/bin:/usr/bin";  // confstr(3) _CS_PATH

bool overrides_permissions() {
  const auto capabilities = linux::grantable_capabilities({});
  return capabilities && capabilities->permitted.has(CAP_DAC_OVERRIDE);
}

// Returns 0 if execve(2) would accept `path`, or else an errno that gives the reason. The system
// call faccessat comes first, because older seccomp profiles refuse faccessat2 or kill the process.
// For users other than root, faccessat ignores capabilities, but execve honors CAP_DAC_OVERRIDE.
// faccessat2 with AT_EACCESS (Linux 5.8) honors capabilities too.
int why_not_executable(const std::string& path) {
  struct stat status{};
  if (::fstatat(AT_FDCWD, path.c_str(), &status, 0) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (::syscall(SYS_faccessat, AT_FDCWD, path.c_str(), X_OK) == 0) return 0;
  if (errno != EACCES) return errno;
  if (::syscall(SYS_faccessat2, AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) return 0;
  // EPERM comes from a seccomp filter: faccessat2 itself never returns it here. If the capability
  // may allow the execution, execve(2) decides.
  const bool is_absent = errno == ENOSYS || errno == EPERM;
  return is_absent && overrides_permissions() && (status.st_mode & 0111) != 0 ? 0 : EACCES;
}

// Whether the caller can see the file. False for a file in a directory that the caller may not
// search.
bool is_there(const std::string& path) {
  struct stat status{};
  return ::fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0;
}

}  // namespace

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  const char* value = nullptr;
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      value = entry.c_str() + name.size() + 1;
  return value;
}

std::vector<std::string> normalize_environment(const std::vector<std::string>& environment,
                                               const std::string& home) {
  std::vector<std::string> result;
  std::unordered_map<std::string_view, std::size_t> places;  // fast for thousands of variables
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const auto [place, is_new] = places.try_emplace(name, result.size());
    if (is_new) {
      result.push_back(entry);
    } else {
      result[place->second] = entry;
    }
  }
  const char* value = find_variable(result, "HOME");
  if (value == nullptr) {
    result.push_back("HOME=" + home);
  } else if (*value == '\0') {
    std::ranges::replace(result, std::string("HOME="), "HOME=" + home);
  }
  return result;
}

std::string find_home(std::uint32_t uid) {
  for (const PasswdEntry& entry : find_in_passwd(uid))
    if (entry.home.starts_with('/')) return entry.home;
  return "/";
}

Result<std::string> find_executable(const std::string& name,
                                    const std::vector<std::string>& environment,
                                    std::string_view place) {
  const auto cause = [&](const std::string& path) {
    return linux::explain_exec(path, EACCES, place);
  };
  if (name.find('/') != std::string::npos) {
    const int reason = why_not_executable(name);
    if (reason == 0) return name;
    if (reason == EISDIR || reason == EACCES)
      return fail(EACCES, "exec: \"{}\"{}", name, cause(name));
    return fail(reason, "exec: \"{}\": stat {}", name, name);
  }
  const char* path = find_variable(environment, "PATH");
  std::string_view rest = path == nullptr ? kDefaultPath : std::string_view(path);
  std::string forbidden;  // the first file that exists but may not be executed
  for (bool more = !name.empty() && !rest.empty(); more;) {
    more = rest.find(':') != std::string_view::npos;
    const std::string_view directory = linux::cut(rest, ':');
    std::string candidate = directory.empty() ? "./" + name : fmt::format("{}/{}", directory, name);
    const int reason = why_not_executable(candidate);
    if (reason == 0) return candidate;
    if (reason == EACCES && forbidden.empty() && is_there(candidate)) forbidden = candidate;
    // An error such as EMFILE must not be reported as a missing file.
    if (is_transient(reason)) return fail(reason, "exec: \"{}\": look at {}", name, candidate);
  }
  if (!forbidden.empty())
    return fail(EACCES, "exec: \"{}\": {}{}", name, forbidden, cause(forbidden));
  return refuse("exec: \"{}\": executable file not found in $PATH{}", name,
                name.starts_with('-') ? " (an option stands before the container's id)" : "");
}

namespace {

constexpr std::size_t kMaxPasswd = 1024 * 1024;
enum { kName, kPassword, kUid, kGid, kComment, kHome, kFields };

}  // namespace

std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid) {
  std::vector<PasswdEntry> found;
  const auto text = linux::read_file(Fd{AT_FDCWD}, "/etc/passwd", kMaxPasswd);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::string_view line = linux::cut(rest, '\n');
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) field = linux::cut(line, ':');
    const auto entry = Uid::parse(fields[kUid]);
    if (entry && entry->value() == uid)
      found.push_back({std::string(fields[kName]), std::string(fields[kHome])});
  }
  return found;
}

}  // namespace ocirun::runtime
