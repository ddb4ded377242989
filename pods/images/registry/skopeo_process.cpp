#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/spawn.hpp"
#include "pods/images/registry/skopeo.hpp"
#include "pods/images/trees/byte_stream.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSaid = std::size_t{64} << 10;  // bytes of stderr that are kept
constexpr std::chrono::milliseconds kBetweenLooks{200};   // at the bytes that have arrived
constexpr std::chrono::seconds kToEnd{10};                // after skopeo has closed its output
constexpr int kDeepest = 4;

/// The bytes of all files below a directory, to which skopeo may write meanwhile.
std::uint64_t bytes_below(Fd directory, int depth = 0) {
  std::uint64_t sum = 0;
  const auto add = [&](const char* name, unsigned char type) -> Result<void> {
    if (type == DT_DIR && depth < kDeepest) {
      const auto below = sys::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (below) sum += bytes_below(*below, depth + 1);
    } else if (const auto info = sys::fstatat(directory, name); info && S_ISREG(info->st_mode)) {
      sum += static_cast<std::uint64_t>(info->st_size);
    }
    return {};
  };
  ignore(linux::for_each_entry(directory, add));
  return sum;
}

bool exists(const std::string& path) { return sys::open(path.c_str(), O_PATH).has_value(); }

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Without XDG_RUNTIME_DIR skopeo would take the credentials of the host's root, which it cannot
/// read, because its own user is 0 in the user namespace.
void add_runtime_directory(std::vector<std::string>& variables, std::uint32_t user) {
  const std::string directory = fmt::format("/run/user/{}", user);
  variables.push_back(
      fmt::format("XDG_RUNTIME_DIR={}", exists(directory) ? directory : std::string("/")));
  const std::string file = fmt::format("/run/containers/{}/auth.json", user);
  if (!is_set("REGISTRY_AUTH_FILE") && exists(file))
    variables.push_back(fmt::format("REGISTRY_AUTH_FILE={}", file));
}

/// The environment of the caller. An ordinary user is root of a user namespace here; the variables
/// are those of `podman unshare`, which tell skopeo's libraries who the user is.
Result<std::vector<std::string>> environment_for(const Pulling& pulling) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  if (!pulling.is_ordinary) return variables;
  const auto own_id = [](linux::IdKind kind) -> Result<std::uint32_t> {
    OCIRUN_TRY_ASSIGN(const std::vector<linux::IdMapping> map, linux::own_id_map(kind));
    const auto root = std::ranges::find(map, 0U, &linux::IdMapping::container_id);
    return root == map.end() ? 0U : root->host_id;
  };
  OCIRUN_TRY_ASSIGN(const std::uint32_t user, own_id(linux::IdKind::kUser));
  OCIRUN_TRY_ASSIGN(const std::uint32_t group, own_id(linux::IdKind::kGroup));
  variables.emplace_back("_CONTAINERS_USERNS_CONFIGURED=done");
  variables.push_back(fmt::format("_CONTAINERS_ROOTLESS_UID={}", user));
  variables.push_back(fmt::format("_CONTAINERS_ROOTLESS_GID={}", group));
  if (!is_set("XDG_RUNTIME_DIR")) add_runtime_directory(variables, user);
  return variables;
}

/// A pipe that skopeo writes to.
struct Reading {
  UniqueFd pipe;
  std::size_t most;  // bytes; more are dropped
  std::string text = {};
  bool is_cut = false;

  /// Reads the present bytes. Returns how many; closes the pipe at its end.
  std::size_t read_some() {
    std::array<char, 65536> piece;
    const ssize_t count = ::read(pipe.get(), piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (count <= 0) {
      pipe.reset();
      return 0;
    }
    const auto size = static_cast<std::size_t>(count);
    is_cut = is_cut || size > most - text.size();
    text.append(piece.data(), std::min(size, most - text.size()));
    return size;
  }
};

/// One run of skopeo.
class Run {
 public:
  Run(linux::Child child, UniqueFd printed, UniqueFd said, Fd watched, const SkopeoLimits& limits)
      : child_(std::move(child)),
        printed_{.pipe = std::move(printed), .most = kMaxDocument},
        said_{.pipe = std::move(said), .most = kMostSaid},
        watched_(watched),
        limits_(limits) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (child_.pid != 0) linux::kill_child(child_);
  }

  Result<std::string> outcome() {
    progressed();
    while (printed_.pipe || said_.pipe) {
      wait();
      if (bytes_ > limits_.bytes)
        return refuse(
            "more than the {} bytes have arrived that the manifest lists, or that an "
            "image may have: the registry sends something else",
            limits_.bytes);
      if (Clock::now() < deadline_) continue;
      const std::string reason = skopeos_reason(said_.text);
      return refuse(
          "nothing has arrived for {} s (--pull-timeout SECONDS): the registry does not answer, or "
          "has answered that it gets too many requests{}{}",
          limits_.patience.count(), reason.empty() ? "" : "; skopeo says: ", reason);
    }
    const auto status = linux::collect_child(child_, kToEnd);
    if (!status) return refuse("skopeo has closed its output and does not end");
    if (*status != 0) {
      const std::string reason = skopeos_reason(said_.text);
      return refuse("skopeo: {}", reason.empty() ? linux::describe_end(status) : reason);
    }
    if (printed_.is_cut) return refuse("the manifest has more than {} bytes", kMaxDocument);
    return std::move(printed_.text);
  }

 private:
  void progressed() { deadline_ = Clock::now() + limits_.patience; }

  /// Waits until skopeo writes or some time has passed, and looks whether bytes have arrived.
  void wait() {
    std::array<pollfd, 2> watched{pollfd{printed_.pipe.get(), POLLIN, 0},
                                  pollfd{said_.pipe.get(), POLLIN, 0}};  // -1 is ignored
    ::poll(watched.data(), watched.size(), static_cast<int>(kBetweenLooks.count()));
    if (watched[0].revents != 0 && printed_.read_some() != 0) progressed();
    if (watched[1].revents != 0) said_.read_some();
    const std::uint64_t now = bytes_below(watched_);
    if (now != bytes_) progressed();
    bytes_ = now;
  }

  linux::Child child_;
  Reading printed_, said_;
  Fd watched_;
  SkopeoLimits limits_;
  std::uint64_t bytes_ = 0;
  Clock::time_point deadline_;
};

}  // namespace

Result<std::string> run_skopeo(const Pulling& pulling, const std::vector<std::string>& words,
                               Fd watched, const SkopeoLimits& limits, bool shows_progress) {
  if (pulling.skopeo.empty())
    return refuse(
        "skopeo is not installed, which fetches images (Debian: apt-get install skopeo); --image "
        "NAME=SOURCE and --images DIR take images that are on this machine");
  std::vector<std::string> line = words;
  line.insert(line.begin(), pulling.skopeo);
  OCIRUN_TRY_ASSIGN(std::vector<std::string> environment, environment_for(pulling));
  const linux::ExecArguments arguments(std::move(line), std::move(environment));
  OCIRUN_TRY_ASSIGN(linux::Pipe printed, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Pipe said, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(const UniqueFd nothing, linux::open_verified_null());
  const bool on_terminal = shows_progress && pulling.terminal.value >= 0;
  OCIRUN_TRY_ASSIGN(
      linux::Child child,
      within(
          linux::spawn(pulling.skopeo.c_str(), arguments, arguments.envp(),
                       {nothing, on_terminal ? pulling.terminal : Fd(printed.writer), said.writer}),
          "execute {}", pulling.skopeo));
  printed.writer.reset();
  said.writer.reset();
  return Run(std::move(child), std::move(printed.reader), std::move(said.reader), watched, limits)
      .outcome();
}

}  // namespace ocirun::pods
