#include "pods/run/run_pod.hpp"
#include "pods/state/pod_directory.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "bundle/documents/recording.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/base/timeline.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/cli/display.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/run.hpp"
#include "pods/prepare/bundle_workload.hpp"

namespace ocirun::pods::cli {

using linux::timeline::step;

namespace {

/// Writes the timeline of --trace, if it was not written yet.
void finish(bundle::Recording& recording) {
  if (const auto written = recording.finish(); !written) warn(written.error().message());
}

/// Puts "CONTAINER | " before each line.
std::string with_prefix(const std::string& container, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t size = lines.find('\n') + 1;
    text += container;
    text += " | ";
    text += lines.substr(0, size);
    lines.remove_prefix(size);
  }
  return text;
}

void show_last_lines(const std::string& container, const std::vector<std::string>& lines,
                     const std::string& hint) {
  std::string text =
      lines.empty()
          ? fmt::format("ocirun: container \"{}\" has written nothing\n", container)
          : fmt::format("ocirun: the last lines of container \"{}\" ({}):\n", container, hint);
  for (const std::string& line : lines)
    text += fmt::format("{} | {}\n", container, linux::in_one_line(line));
  ignore(linux::write_all(Fd{STDERR_FILENO}, text));
}

/// Prints the reports of a pod in the foreground. `has_prefix`: the lines of the containers begin
/// with "CONTAINER | ".
Listener terminal_listener(bool has_prefix) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  listener.note = [](const std::string& sentence) { note(sentence); };
  if (::isatty(STDERR_FILENO) == 1) listener.progress = show_unpacking;
  const auto out = std::make_shared<Display>(Fd{STDOUT_FILENO});
  // One display for one file: a line of a stream must not end inside a line of the other.
  const bool is_one =
      linux::sys::is_same_file(Fd{STDOUT_FILENO}, Fd{STDERR_FILENO}).value_or(false);
  const auto err = is_one ? out : std::make_shared<Display>(Fd{STDERR_FILENO});
  listener.print = [=](const std::string& container, Stream stream, std::string_view lines) {
    Display& display = stream == Stream::kStderr ? *err : *out;
    display.print(has_prefix ? with_prefix(container, lines) : lines);
  };
  return listener;
}

/// Prints the reports of a detached pod, until the pod is started.
Listener detached_listener(const std::string& pod, Afterwards afterwards) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  listener.note = [](const std::string& sentence) { note(sentence); };
  const std::string hint = afterwards == Afterwards::kKeep
                               ? fmt::format("`ocirun pod logs {}` has all", pod)
                               : "--keep keeps all";
  listener.last_lines = [hint](const std::string& container,
                               const std::vector<std::string>& lines) {
    show_last_lines(container, lines, hint);
  };
  return listener;
}

struct Detached {
  Afterwards afterwards;
  bool adopts;  // a pod whose supervisor was killed
};

/// Runs in the supervisor of a detached pod. Reports the outcome of the start through `report`.
int supervise(Completed& completed, const Settings& settings, const Detached& how, UniqueFd report,
              int caller) {
  linux::timeline::name_lane("supervisor");
  // If the caller dies before the pod is started, nobody knows of the pod: the supervisor ends too.
  if (!how.adopts) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!how.adopts && ::getppid() != caller) return 1;
  ::setsid();
  linux::close_descriptors_but(std::array{Fd(report)});
  Listener listener = detached_listener(settings.name, how.afterwards);
  const auto leave_terminal = [] {
    const auto nothing = linux::open_verified_null();
    if (!nothing) return;
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::dup2(nothing->get(), number);
    ignore(linux::sys::chdir("/"));
  };
  listener.announce = [&] {
    ::prctl(PR_SET_PDEATHSIG, 0);
    linux::timeline::end_step();
    linux::timeline::mute();
    ignore(linux::write_all(report, "started"));
    report.reset();
    leave_terminal();
  };
  const auto run = [&]() -> std::expected<int, PodFailure> {
    if (!how.adopts) return run_pod(completed, settings, how.afterwards, listener);
    OCIRUN_TRY_ASSIGN(const int status, adopt_pod(completed, settings, listener));
    return status;
  };
  const auto status = run();
  if (status) return *status;
  if (report) ignore(linux::write_all(report, linux::error_lines(status.error().error)));
  return status.error().exit_status;
}

/// The exit status of a command whose pod could not be started.
Result<int> failed_with(const Command& command, const PodFailure& failure) {
  if (failure.exit_status == 1) return std::unexpected(failure.error);
  print_error(command, failure.error);
  return failure.exit_status;
}

Result<int> run_detached(const Command& command, Completed& completed, const Settings& settings,
                         const Detached& how, bundle::Recording& recording) {
  constexpr std::size_t kMostError = std::size_t{1} << 20;
  constexpr std::chrono::seconds kToEnd{10};  // for a supervisor that has reported an error
  const int caller = ::getpid();
  OCIRUN_TRY_ASSIGN(linux::Pipe report, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) {
    report.reader.reset();
    ::_exit(supervise(completed, settings, how, std::move(report.writer), caller));
  }
  report.writer.reset();
  step("wait for the supervisor");
  OCIRUN_TRY_ASSIGN(const std::string text, linux::sys::read_all(report.reader, kMostError));
  finish(recording);
  // A supervisor that has closed the pipe and goes on has started the pod: its word was lost.
  const auto ended = text == "started" ? std::nullopt : linux::collect_child(child, kToEnd);
  if (!ended) {
    OCIRUN_TRY(print(settings.name + "\n"));
    return 0;
  }
  const int status = *ended;
  if (!text.empty()) {
    Error error = linux::parse_error_lines(text, "start the pod");
    const std::string& file = completed.workload().file;
    if (!error.message().starts_with(file + ":")) error.within(file);
    return failed_with(command, {std::move(error), WIFEXITED(status) ? WEXITSTATUS(status) : 1});
  }
  return refuse("the supervisor of the pod {} before the pod was started",
                linux::describe_end(status));
}

/// Begins the timeline of --trace. Errors: the file cannot be written.
Result<bundle::Recording> begin_recording(const Arguments& arguments) {
  const auto file = arguments.path("trace");
  if (!file) return bundle::Recording();
  return within(bundle::Recording::begin(
                    *file, fmt::format("ocirun pod run {}", arguments.operands().front())),
                "--trace");
}

/// A service manager that cannot be told of the pod is a warning.
std::optional<ServiceNotifier> find_manager(const ManagerVariables& variables) {
  auto manager = ServiceNotifier::connect(variables);
  if (manager) return *std::move(manager);
  warn(manager.error().message());
  return std::nullopt;
}

struct Foreground {
  bundle::Recording& recording;
  Afterwards afterwards;
  bool has_prefix;  // lines of containers begin with "CONTAINER | "
};

/// A stop that a service manager can see as such succeeds, also during the start, and whatever the
/// programs make of their stop signals: the status is then 0.
Result<int> run_in_foreground(const Command& command, Completed& completed,
                              const Settings& settings, const Caller& caller,
                              const Foreground& how) {
  std::optional<ServiceNotifier> manager = find_manager(caller.manager);
  Listener listener = terminal_listener(how.has_prefix);
  if (manager) listener.notifier = &*manager;
  listener.announce = [&] {
    finish(how.recording);
    if (!manager) return;
    if (const auto told = manager->tell_ready(); !told) warn(told.error().message());
  };
  const auto status = run_pod(completed, settings, how.afterwards, listener);
  if (!status && manager && status.error().error.number() == ECANCELED) {
    print_error(command, status.error().error);
    return 0;
  }
  if (!status) return failed_with(command, status.error());
  return manager && manager->has_told_stopping() ? 0 : *status;
}

/// --profile knative BUNDLE
Result<Workload> read_bundle_to_run(const Arguments& arguments, const Caller& caller,
                                    const std::string& directory) {
  if (const std::string profile = *arguments.value("profile"); profile != "knative")
    return refuse("--profile {}: must be knative", profile);
  for (const std::string_view option :
       {"images", "image", "volume", "secret", "param", "extended", "device", "cdi",
        "enforce-required", "seccomp", "seccomp-profiles", "ignore", "env", "env-file", "label",
        "pull", "pull-secret", "plain-http", "pull-timeout"})
    if (arguments.has(option))
      return refuse("--{} is for documents: the bundle's config.json says all of this itself",
                    option);
  OCIRUN_TRY_ASSIGN(const HostPath bundle, linux::absolute_path(directory));
  OCIRUN_TRY_ASSIGN(const Given given, read_given(arguments));
  const std::string& path = bundle.string();
  const std::string name = arguments.value("name").value_or(path.substr(path.rfind('/') + 1));
  OCIRUN_TRY(check_pod_name(name));
  OCIRUN_TRY_ASSIGN(Workload workload, read_bundle(bundle, name, given,
                                                   caller.is_ordinary ? BundleRunner::kOrdinaryUser
                                                                      : BundleRunner::kRoot));
  for (const std::string& warning : workload.warnings) warn(warning);
  return workload;
}

Result<int> run_recorded(const Command& command, const Arguments& arguments, const Caller& caller,
                         const std::optional<Repetition>& repetition,
                         bundle::Recording& recording) {
  const std::string& file = arguments.operands().front();
  step("read the document");
  OCIRUN_TRY_ASSIGN(Workload workload, read_workload_of(arguments, caller, repetition));
  step("plan the pod");
  OCIRUN_TRY_ASSIGN(Settings settings, read_run_settings(arguments, caller, workload, file));
  OCIRUN_TRY(check_name_of_set(settings, workload));
  if (repetition) {
    settings.replace = repetition->replace;
    settings.grace_of_old = repetition->grace;
  }
  const bool adopts = repetition && repetition->adopts;
  OCIRUN_TRY_ASSIGN(Completed completed,
                    complete_to_run(std::move(workload), arguments, caller, settings,
                                    adopts ? Audience::kRunning : Audience::kThisMachine));
  OCIRUN_TRY_ASSIGN(settings.request, request_of(arguments, caller, completed));
  const bool is_kept = arguments.has("keep");
  if (arguments.has("detach"))
    return run_detached(
        command, completed, settings,
        {.afterwards = is_kept ? Afterwards::kKeep : Afterwards::kKeepIfStarted, .adopts = adopts},
        recording);
  return run_in_foreground(
      command, completed, settings, caller,
      {.recording = recording,
       .afterwards = is_kept ? Afterwards::kKeep : Afterwards::kRemove,
       .has_prefix = !arguments.has("no-prefix") && all_containers(completed.pod()).size() > 1});
}

Result<int> run(const Arguments& arguments, const Caller& caller) {
  return run_document(kRun, arguments, caller, std::nullopt);
}

}  // namespace

Result<Workload> read_workload_of(const Arguments& arguments, const Caller& caller,
                                  const std::optional<Repetition>& repetition) {
  const std::string& file = arguments.operands().front();
  if (arguments.has("profile")) return read_bundle_to_run(arguments, caller, file);
  if (repetition) return workload_of_text(arguments, file, repetition->text);
  return read_workload_to_run(arguments, file);
}

void show_unpacking(const std::string& image, const AddProgress& progress) {
  const bool is_done = progress.size != 0 && progress.read >= progress.size;
  const std::string part = progress.size == 0
                               ? fmt::format("{} MiB", progress.read >> 20)
                               : fmt::format("{:3} %", progress.read * 100 / progress.size);
  ignore(
      linux::write_all(Fd{STDERR_FILENO},
                       fmt::format("\r{}: layer {} of {}: {}{}", linux::in_one_line(image),
                                   progress.index + 1, progress.count, part, is_done ? "\n" : "")));
}

Result<int> run_document(const Command& command, const Arguments& arguments, const Caller& caller,
                         const std::optional<Repetition>& repetition) {
  OCIRUN_TRY_ASSIGN(bundle::Recording recording, begin_recording(arguments));
  auto status = run_recorded(command, arguments, caller, repetition, recording);
  finish(recording);  // also of a pod that could not be started
  return status;
}

const Command kRun{{"run",
                    "FILE | --profile knative BUNDLE",
                    "run the pod of a workload document, and supervise it",
                    kRunOptions,
                    {1, 1},
                    {kOneFile}},
                   run,
                   Rights::kRoot};

}  // namespace ocirun::pods::cli
