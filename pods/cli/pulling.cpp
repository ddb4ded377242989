#include <fcntl.h>
#include <unistd.h>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/images/registry/pull.hpp"

namespace ocirun::pods::cli {
namespace {

Result<PullPolicy> read_policy(const std::string& text) {
  if (text == "always") return PullPolicy::kAlways;
  if (text == "missing") return PullPolicy::kMissing;
  if (text == "never") return PullPolicy::kNever;
  return refuse("--pull {}: must be always, missing or never", text);
}

Result<std::set<std::string>> read_plain_http(const Arguments& arguments) {
  std::set<std::string> hosts;
  for (const std::string& host : arguments.values(kPlainHttpOption.name)) {
    const auto reference = Reference::parse(host + "/image");
    if (!reference || reference->host != host)
      return refuse("--{} {}: must be HOST or HOST:PORT of a registry", kPlainHttpOption.name,
                    host);
    hosts.insert(host);
  }
  return hosts;
}

/// Makes the paths absolute, and finds a mistyped one before anything is fetched: skopeo takes a
/// missing file for one without credentials.
Result<std::map<std::string, std::string>> read_auth_files(const Arguments& arguments) {
  OCIRUN_TRY_ASSIGN(auto files, pairs_of(arguments, "pull-secret"));
  for (auto& [name, file] : files) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(file));
    if (auto opened = linux::sys::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK); !opened)
      return std::unexpected(opened.error().within(fmt::format("--pull-secret {}", name)));
    file = path.string();
  }
  return files;
}

}  // namespace

Result<Pulling> read_pulling(const Arguments& arguments) {
  Pulling pulling;
  pulling.skopeo = linux::find_program("skopeo");
  if (::isatty(STDERR_FILENO) == 1) pulling.terminal = Fd{STDERR_FILENO};
  if (const auto text = arguments.value("pull")) {
    OCIRUN_TRY_ASSIGN(pulling.policy, read_policy(*text));
  }
  OCIRUN_TRY_ASSIGN(pulling.plain_http, read_plain_http(arguments));
  OCIRUN_TRY_ASSIGN(pulling.auth_files, read_auth_files(arguments));
  if (const auto text = arguments.value(kPullTimeoutOption.name)) {
    OCIRUN_TRY_ASSIGN(pulling.patience, read_seconds(kPullTimeoutOption.name, *text));
    if (pulling.patience.count() == 0)
      return refuse("--{} 0: must be at least 1", kPullTimeoutOption.name);
  }
  return pulling;
}

void warn_of_pull_secrets(const Arguments& arguments, const Workload& workload) {
  const auto given = pairs_of(arguments, "pull-secret");
  std::set<std::string> known;
  for (const Container* container : all_containers(workload.pod)) {
    const PullSecret* const secret = pull_secret_of(workload.pod, *container);
    if (secret == nullptr || (given && given->contains(secret->name))) continue;
    const std::string place = workload.at(secret->place);
    if (!known.insert(place).second) continue;
    warn(
        fmt::format("{}: has no effect: --pull-secret {}=AUTHFILE would give its credentials; an "
                    "image is pulled with your own",
                    place, secret->name));
  }
}

}  // namespace ocirun::pods::cli
