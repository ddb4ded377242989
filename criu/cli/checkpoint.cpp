#include "criu/cli/checkpoint.hpp"

#include <fcntl.h>

#include <array>

#include "criu/cli/options.hpp"
#include "criu/commands/checkpoint.hpp"
#include "criu/commands/restore.hpp"
#include "criu/dump/directory.hpp"
#include "linux/base/paths.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/foreground/attend.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {
namespace {

// The options that ocirun hands to ocirun-criu as NAME=1.
constexpr std::array<std::string_view, 8> kSwitches{
    "tcp-established", "tcp-skip-in-flight", "ext-unix-sk", "shell-job",
    "file-locks",      "link-remap",         "auto-dedup",  "lazy-pages"};
constexpr std::array<std::string_view, 4> kValues{"network-lock", "page-server", "lsm-profile",
                                                  "lsm-mount-context"};

bool is_one_of(std::string_view word, std::string_view bars) {
  while (!bars.empty()) {
    const std::size_t bar = std::min(bars.find('|'), bars.size());
    if (bars.substr(0, bar) == word) return true;
    bars.remove_prefix(std::min(bar + 1, bars.size()));
  }
  return false;
}

Result<void> check_word(const Arguments& arguments, std::string_view option,
                        std::string_view allowed) {
  const auto value = arguments.value(option);
  if (!value || is_one_of(*value, allowed)) return {};
  return refuse("--{} {}: must be one of {}", option, *value, allowed);
}

Result<CriuSettings> read_settings(const Arguments& arguments) {
  CriuSettings settings;
  OCIRUN_TRY_ASSIGN(settings.images,
                    linux::absolute_path(arguments.value("image-path").value_or("checkpoint")));
  settings.work = settings.images;
  if (const auto named = arguments.value("work-path")) {
    OCIRUN_TRY_ASSIGN(const HostPath work, linux::absolute_path(*named));
    OCIRUN_TRY_ASSIGN(settings.work, within(follow_own_link(work), "--work-path"));
  }
  const std::string mode = arguments.value("manage-cgroups-mode").value_or("soft");
  const auto parsed = parse_cgroup_mode(mode);
  if (!parsed) return refuse("--manage-cgroups-mode {}: must be one of {}", mode, kCgroupModes);
  settings.cgroups = *parsed;
  OCIRUN_TRY(check_word(arguments, "network-lock", kNetworkLocks));
  for (const std::string_view name : kSwitches)
    if (arguments.has(name)) settings.words.push_back(fmt::format("{}=1", name));
  for (const std::string_view name : kValues)
    if (const auto value = arguments.value(name))
      settings.words.push_back(fmt::format("{}={}", name, *value));
  settings.keeps_network = arguments.has("keep-network");
  for (const std::string& name : arguments.values("empty-ns")) {
    if (name != "network")
      return refuse("--empty-ns {}: must be network, the only one that criu has", name);
    if (settings.keeps_network)
      return refuse("--empty-ns network and --keep-network: give one of them");
  }
  return settings;
}

// The bundle of container `id`, if the container was not deleted after its checkpoint.
std::optional<std::string> known_bundle(const GlobalOptions& options, const ContainerId& id) {
  const auto container = Container::load(options, id);
  if (!container) return std::nullopt;
  return container->record().bundle;
}

Result<RestoreRequest> read_restore(const Invocation& invocation, bool keeps_terminal) {
  const Arguments& arguments = invocation.arguments;
  if (invocation.inheritance.preserved_descriptors != 0)
    return refuse(
        "--preserve-fds: restored processes have the descriptors of their images, and get "
        "no others");
  OCIRUN_TRY_ASSIGN(ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(CriuSettings settings, read_settings(arguments));
  std::optional<std::string> named = arguments.value("bundle");
  if (!named) named = known_bundle(invocation.options, id);
  OCIRUN_TRY_ASSIGN(HostPath bundle, linux::absolute_path(named.value_or(".")));
  return RestoreRequest{
      .create = {.id = std::move(id),
                 .bundle = std::move(bundle),
                 .console_socket = arguments.path("console-socket"),
                 .announcement = {.pid_file = arguments.path("pid-file"),
                                  .pidfd_socket = std::nullopt},
                 .terminal_keeper =
                     keeps_terminal ? TerminalKeeper::kCaller : TerminalKeeper::kConsoleSocket,
                 .pivot = true,
                 .new_keyring = !arguments.has("no-new-keyring"),
                 .inheritance = invocation.inheritance,
                 .is_attended = false,
                 .notifies = false},
      .settings = std::move(settings),
      .trust = arguments.has("trust-images") ? TrustImages::kYes : TrustImages::kNo};
}

Result<int> run_dry(const Invocation& invocation, const RestoreRequest& request) {
  OCIRUN_TRY_ASSIGN(const auto obstacles,
                    why_not_restored(invocation.options, invocation.log, request));
  if (obstacles.empty()) {
    OCIRUN_TRY(print("images, config.json and this host fit together\n"));
    return 0;
  }
  std::string report;
  for (const std::string& obstacle : obstacles) report += fmt::format("obstacle: {}\n", obstacle);
  OCIRUN_TRY(print(report));
  return refuse("a restore would fail: {} obstacle{}", obstacles.size(),
                obstacles.size() == 1 ? "" : "s");
}

}  // namespace

Result<int> run_checkpoint(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  CheckpointRequest request;
  OCIRUN_TRY_ASSIGN(request.settings, read_settings(arguments));
  if (arguments.has("pre-dump"))
    request.afterwards = Afterwards::kIsFollowed;
  else if (arguments.has("leave-running"))
    request.afterwards = Afterwards::kRuns;
  // Without an address, CRIU would serve the memory at every address of the host.
  if (arguments.has("lazy-pages") && !arguments.value("page-server"))
    return refuse(
        "--lazy-pages: give --page-server ADDRESS:PORT, the address at which criu lazy-pages "
        "fetches the memory");
  request.parent_path = arguments.value("parent-path");
  if (arguments.value("status-fd")) {
    OCIRUN_TRY_ASSIGN(const int status, arguments.number("status-fd", -1, 1'000'000));
    if (::fcntl(status, F_GETFD) < 0)
      return fail(EBADF, "--status-fd {}: must be an open descriptor", status);
    request.status = Fd{status};
  }
  OCIRUN_TRY(checkpoint_container(invocation.options, id, request, invocation.log));
  return 0;
}

Result<int> run_restore(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const bool detach = arguments.has("detach");
  OCIRUN_TRY_ASSIGN(RestoreRequest request,
                    read_restore(invocation, !detach && !arguments.value("console-socket")));
  if (arguments.has("dry-run")) return run_dry(invocation, request);
  request.create.is_attended = !detach;
  OCIRUN_TRY_ASSIGN(const CreatedContainer container,
                    restore_container(invocation.options, invocation.log, request));
  container.directory.unlock();  // other commands may use the container while it runs
  if (detach) return 0;
  finish(invocation.recording, invocation.log);
  OCIRUN_TRY_ASSIGN(const int status, attend(container.init, container.terminal));
  warn_of_oom(status, container.record, 0, invocation.log);
  OCIRUN_TRY(container.directory.lock(kLockPatience));
  if (container.directory.exists())
    OCIRUN_TRY(destroy_container(container.directory, container.record, invocation.log));
  return status;
}

}  // namespace ocirun::runtime::cli
