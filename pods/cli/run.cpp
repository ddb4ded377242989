#include "pods/run/run_pod.hpp"
#include "pods/state/pod_directory.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/cli/commands.hpp"
#include "pods/prepare/bundle_workload.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kRunOwnOptions{
    Option{"profile", "knative",
           "run a bundle under the Knative runtime contract, instead of a document"},
    Option{"detach", "", "return when all containers have been started; a supervisor stays", 'd'},
    Option{"wait-ready", "[=SECONDS]",
           "count as started only when all containers are ready (default 300 s)"},
    Option{"no-prefix", "", "print the lines of the containers without \"CONTAINER | \""},
    Option{"keep", "", "keep the pod's record and logs when the pod has ended or cannot start"},
    Option{"net", "NETWORK", "pod, host, none, or the path of a network namespace"},
    Option{"metadata", "", "serve an App Container pod's manifest to its apps (AC_METADATA_URL)"},
    Option{"grace", "SECONDS", "between the signal to stop and SIGKILL (default 30)"},
    Option{"log-dir", "DIR", "write the logs of the containers to DIR"},
    Option{"runtime", "PATH", "another OCI runtime than this one"},
    kDataOption,
};

/// Shows on a terminal which layer is unpacked.
void show_progress(const std::string& image, const AddProgress& progress) {
  const bool is_done = progress.size != 0 && progress.read >= progress.size;
  const std::string part = progress.size == 0
                               ? fmt::format("{} MiB", progress.read >> 20)
                               : fmt::format("{:3} %", progress.read * 100 / progress.size);
  static_cast<void>(
      linux::write_all(Fd{STDERR_FILENO},
                       fmt::format("\r{}: layer {} of {}: {}{}", linux::in_one_line(image),
                                   progress.index + 1, progress.count, part, is_done ? "\n" : "")));
}

/// Prints a line, but leaves it out if nobody reads the output: the supervisor must not wait. The
/// logs have all lines.
void print_if_read(Fd out, std::string_view text) {
  constexpr int kPatience = 100;  // milliseconds
  pollfd watched{out.value, POLLOUT, 0};
  if (::poll(&watched, 1, kPatience) == 1) static_cast<void>(linux::write_all(out, text));
}

void show_last_lines(const std::string& container, const std::vector<std::string>& lines,
                     const std::string& hint) {
  std::string text =
      lines.empty()
          ? fmt::format("ocirun: container \"{}\" has written nothing\n", container)
          : fmt::format("ocirun: the last lines of container \"{}\" ({}):\n", container, hint);
  for (const std::string& line : lines)
    text += fmt::format("{} | {}\n", container, linux::in_one_line(line));
  static_cast<void>(linux::write_all(Fd{STDERR_FILENO}, text));
}

/// Prints the reports of a pod in the foreground. `has_prefix`: the lines of the containers begin
/// with "CONTAINER | ".
Listener terminal_listener(bool has_prefix) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  if (::isatty(STDERR_FILENO) == 1) listener.progress = show_progress;
  listener.print = [has_prefix](const std::string& container, Stream stream,
                                std::string_view line) {
    const Fd out{stream == Stream::kStderr ? STDERR_FILENO : STDOUT_FILENO};
    const std::string text =
        has_prefix ? fmt::format("{} | {}\n", container, line) : fmt::format("{}\n", line);
    print_if_read(out, text);
  };
  return listener;
}

/// Prints the reports of a detached pod, until the pod is started.
Listener detached_listener(const std::string& pod, Afterwards afterwards) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  const std::string hint = afterwards == Afterwards::kKeep
                               ? fmt::format("`ocirun pod logs {}` has all", pod)
                               : "--keep keeps all";
  listener.last_lines = [hint](const std::string& container,
                               const std::vector<std::string>& lines) {
    show_last_lines(container, lines, hint);
  };
  return listener;
}

constexpr std::chrono::seconds kReadyWithin{300};
/// Knative considers a revision failed that is not ready after this time (KN-6).
constexpr std::chrono::seconds kKnativeDeadline{600};

/// The value of --net for the network in config.json of a bundle.
NetworkChoice choice_of_bundle(const Workload& workload) {
  using Kind = NetworkChoice::Kind;
  const auto network = network_of_bundle(workload);
  if (!network) return NetworkChoice{};
  return network->empty() ? NetworkChoice{Kind::kHost, ""} : NetworkChoice{Kind::kPath, *network};
}

Result<NetworkChoice> read_network(const Arguments& arguments, const Workload& workload) {
  using Kind = NetworkChoice::Kind;
  const auto word = arguments.value("net");
  if (!word) return arguments.has("profile") ? choice_of_bundle(workload) : NetworkChoice{};
  if (*word == "pod") return NetworkChoice{Kind::kPod, ""};
  if (*word == "host") return NetworkChoice{Kind::kHost, ""};
  if (*word == "none") return NetworkChoice{Kind::kNone, ""};
  if (word->starts_with('/')) return NetworkChoice{Kind::kPath, *word};
  return refuse("--net {}: must be pod, host, none or the path of a network namespace", *word);
}

bool names_systemd(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i] == "--systemd-cgroup" || options[i] == "--cgroup-manager=systemd" ||
        (options[i] == "--cgroup-manager" && i + 1 < options.size() && options[i + 1] == "systemd"))
      return true;
  return false;
}

/// Makes the path absolute, because later commands for the pod may have another working directory.
Result<std::vector<std::string>> with_absolute_root(std::vector<std::string> options) {
  constexpr std::string_view kRoot = "--root=";
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool is_next = options[i] == "--root" && i + 1 < options.size();
    if (is_next) ++i;
    if (!is_next && !options[i].starts_with(kRoot)) continue;
    TRY_ASSIGN(const HostPath path,
               linux::absolute_path(is_next ? options[i] : options[i].substr(kRoot.size())));
    options[i] = is_next ? path.string() : std::string(kRoot) + path.string();
  }
  return options;
}

bool names_root(const std::vector<std::string>& options) {
  return std::ranges::any_of(options, [](const std::string& option) {
    return option == "--root" || option.starts_with("--root=");
  });
}

/// Adds --root: another shell of the user may have no XDG_RUNTIME_DIR, so that the runtime would
/// use another state root.
void keep_state_root(std::vector<std::string>& runtime) {
  const char* directory = std::getenv("XDG_RUNTIME_DIR");
  if (names_root(runtime) || directory == nullptr || *directory != '/') return;
  runtime.insert(runtime.end(), {"--root", fmt::format("{}/ocirun", directory)});
}

Result<Settings> read_settings(const Arguments& arguments, const Caller& caller,
                               const Workload& workload, const std::string& file) {
  Settings settings;
  TRY_ASSIGN(settings.given, read_given(arguments));
  TRY_ASSIGN(settings.data, linux::absolute_path(data_of(arguments).string()));
  TRY_ASSIGN(const HostPath runtime,
             linux::absolute_path(arguments.value("runtime").value_or(caller.runtime)));
  if (auto found = linux::sys::open(runtime.c_str(), O_PATH); !found)
    return std::unexpected(found.error().within("--runtime"));
  settings.runtime = {runtime.string()};
  TRY_ASSIGN(const std::vector<std::string> options, with_absolute_root(caller.options));
  settings.runtime.insert(settings.runtime.end(), options.begin(), options.end());
  settings.has_metadata = arguments.has("metadata");
  if (caller.is_ordinary && !arguments.has("runtime")) keep_state_root(settings.runtime);
  settings.systemd_cgroups = names_systemd(caller.options);
  TRY_ASSIGN(settings.name, name_for(arguments, workload, file));
  TRY_ASSIGN(settings.network, read_network(arguments, workload));
  if (const auto grace = arguments.value("grace")) {
    TRY_ASSIGN(settings.grace, read_seconds("grace", *grace));
  }
  if (const auto directory = arguments.value("log-dir")) {
    TRY_ASSIGN(const HostPath path, linux::absolute_path(*directory));
    settings.log_directory = path.string();
  }
  if (workload.pod.knative) settings.ready_within = kKnativeDeadline;
  if (arguments.has("wait-ready")) {
    const std::string seconds = arguments.value("wait-ready").value_or("");
    settings.ready_within = kReadyWithin;
    if (!seconds.empty()) {
      TRY_ASSIGN(settings.ready_within, read_seconds("wait-ready", seconds));
    }
  }
  return settings;
}

/// What the supervisor of a detached pod does. Reports the outcome of the start to its caller
/// through `report`.
int supervise(Workload& workload, const Settings& settings, Afterwards afterwards, UniqueFd report,
              int caller) {
  // If the caller dies before the pod is started, nobody knows of the pod: the supervisor ends too.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != caller) return 1;
  ::setsid();
  linux::close_descriptors_but(std::array{Fd(report)});
  Listener listener = detached_listener(settings.name, afterwards);
  const auto leave_terminal = [] {
    const auto nothing = linux::open_verified_null();
    if (!nothing) return;
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::dup2(nothing->get(), number);
    static_cast<void>(linux::sys::chdir("/"));
  };
  listener.announce = [&] {
    ::prctl(PR_SET_PDEATHSIG, 0);
    static_cast<void>(linux::write_all(report, "started"));
    report.reset();
    leave_terminal();
  };
  const auto status = run_pod(workload, settings, afterwards, listener);
  if (status) return *status;
  if (report) static_cast<void>(linux::write_all(report, linux::error_lines(status.error().error)));
  return status.error().exit_status;
}

/// The exit status of a command whose pod could not be started.
Result<int> failed_with(const PodFailure& failure) {
  if (failure.exit_status == 1) return std::unexpected(failure.error);
  print_error(kRun, failure.error);
  return failure.exit_status;
}

Result<int> run_detached(Workload& workload, const Settings& settings, Afterwards afterwards) {
  constexpr std::size_t kMostError = std::size_t{1} << 20;
  const int caller = ::getpid();
  TRY_ASSIGN(linux::Pipe report, linux::make_pipe());
  TRY_ASSIGN(const linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) {
    report.reader.reset();
    ::_exit(supervise(workload, settings, afterwards, std::move(report.writer), caller));
  }
  report.writer.reset();
  TRY_ASSIGN(const std::string text, linux::sys::read_all(report.reader, kMostError));
  if (text == "started") {
    TRY(print(settings.name + "\n"));
    return 0;
  }
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (!text.empty()) {
    Error error = linux::parse_error_lines(text, "start the pod");
    if (!error.message().starts_with(workload.file + ":")) error.within(workload.file);
    return failed_with({std::move(error), WIFEXITED(status) ? WEXITSTATUS(status) : 1});
  }
  return refuse("the supervisor of the pod {} before the pod was started",
                linux::describe_end(status));
}

/// --profile knative BUNDLE
Result<Workload> read_bundle_to_run(const Arguments& arguments, const Caller& caller,
                                    const std::string& directory) {
  if (const std::string profile = *arguments.value("profile"); profile != "knative")
    return refuse("--profile {}: must be knative", profile);
  for (const std::string_view option :
       {"images", "image", "volume", "secret", "param", "extended", "enforce-required", "seccomp",
        "seccomp-profiles", "ignore"})
    if (arguments.has(option))
      return refuse("--{} is for documents: the bundle's config.json says all of this itself",
                    option);
  TRY_ASSIGN(const HostPath bundle, linux::absolute_path(directory));
  TRY_ASSIGN(const Given given, read_given(arguments));
  const std::string& path = bundle.string();
  const std::string name = arguments.value("name").value_or(path.substr(path.rfind('/') + 1));
  TRY(check_pod_name(name));
  TRY_ASSIGN(Workload workload,
             read_bundle(bundle, name, given,
                         caller.is_ordinary ? BundleRunner::kOrdinaryUser : BundleRunner::kRoot));
  for (const std::string& warning : workload.warnings) warn(warning);
  return workload;
}

Result<int> run(const Arguments& arguments, const Caller& caller) {
  const std::string& file = arguments.operands().front();
  if (arguments.operands().size() > 1)
    return refuse("one document is run at a time, not also {}", arguments.operands()[1]);
  TRY_ASSIGN(Workload workload, arguments.has("profile")
                                    ? read_bundle_to_run(arguments, caller, file)
                                    : read_workload_to_run(arguments, file));
  auto settings = read_settings(arguments, caller, workload, file);
  if (!settings) return std::unexpected(settings.error());
  const bool is_kept = arguments.has("keep");
  if (arguments.has("detach"))
    return run_detached(workload, *settings,
                        is_kept ? Afterwards::kKeep : Afterwards::kKeepIfStarted);
  const Afterwards afterwards = is_kept ? Afterwards::kKeep : Afterwards::kRemove;
  const bool has_prefix = !arguments.has("no-prefix") && all_containers(workload.pod).size() > 1;
  const auto status = run_pod(workload, *settings, afterwards, terminal_listener(has_prefix));
  if (!status) return failed_with(status.error());
  return *status;
}

const std::vector<Option> kRunOptions = with_given_options(kRunOwnOptions);

}  // namespace

const Command kRun{.name = "run",
                   .operands = "FILE | --profile knative BUNDLE",
                   .summary = "run the pod of a workload document, and supervise it",
                   .options = kRunOptions,
                   .least_operands = 1,
                   .run = run,
                   .takes_program = false,
                   .needs_root = true};

}  // namespace ocirun::pods::cli
