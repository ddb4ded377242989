#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "bundle/cli/completion.hpp"
#include "bundle/cli/help.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/executable.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/foreground/notifications.hpp"

namespace ocirun::runtime::cli {
namespace {

Result<LogLevel> parse_level(const std::string& text) {
  if (const auto level = linux::value_of(kLogLevelNames, text)) return *level;
  return refuse("--log-level {}: must be debug, info, warning or error", text);
}

Result<CgroupManager> read_cgroup_manager(const Arguments& arguments) {
  const std::string name = arguments.value("cgroup-manager").value_or("cgroupfs");
  const auto manager = linux::value_of(cgroups::kManagerNames, name);
  if (!manager) return refuse("--cgroup-manager {}: must be cgroupfs, systemd or disabled", name);
  if (*manager == CgroupManager::kCgroupfs && arguments.has("systemd-cgroup"))
    return CgroupManager::kSystemd;
  return *manager;
}

Result<GlobalOptions> read_globals(const Arguments& arguments) {
  GlobalOptions options;
  const auto root = arguments.value("root");
  options.root_is_explicit = root.has_value();
  // An empty --root is an error. Otherwise a script with an empty variable would change containers
  // of the default root.
  if (arguments.has("root") && !root) return refuse("--root: must name a directory");
  options.root = root ? HostPath(*root) : default_state_root();
  std::string log = arguments.value("log").value_or("");
  if (log.starts_with("file:")) log.erase(0, 5);
  options.log = std::move(log);

  const std::string format = arguments.value("log-format").value_or("text");
  if (format != "text" && format != "json")
    return refuse("--log-format {}: must be text or json", format);
  options.log_format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  OCIRUN_TRY_ASSIGN(options.log_level, parse_level(arguments.value("log-level").value_or("info")));
  if (arguments.has("debug")) options.log_level = LogLevel::kDebug;

  OCIRUN_TRY_ASSIGN(options.cgroup_manager, read_cgroup_manager(arguments));
  options.criu = arguments.value("criu").value_or("");

  const std::string rootless = arguments.value("rootless").value_or("auto");
  if (rootless == "true")
    options.rootless = Rootless::kYes;
  else if (rootless == "false")
    options.rootless = Rootless::kNo;
  else if (rootless != "auto")
    return refuse("--rootless {}: must be true, false or auto", rootless);
  return options;
}

bool is_null_device(Fd fd) {
  const auto status = linux::sys::fstat(fd);
  return status && S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 3);
}

// Opens /dev/null for each of the descriptors 0, 1 and 2 that the caller has closed. Otherwise a
// file that ocirun opens later would become a standard stream of the container.
Result<void> open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    OCIRUN_TRY_ASSIGN(UniqueFd null, within(linux::sys::open("/dev/null", O_RDWR),
                                            "descriptor {} is closed", stream));
    if (!is_null_device(null))
      return refuse("descriptor {} is closed, and /dev/null is not the null device", stream);
    ::fcntl(null.get(), F_SETFD, 0);  // the container's program inherits the descriptor
    ignore(null.release());
  }
  return {};
}

// Sets the dispositions of two signals. Until the program or a hook is executed, all other signals
// keep the dispositions that the caller has set.
void choose_dispositions() {
  ::signal(SIGCHLD, SIG_DFL);  // if ignored, the status of children is lost
  ::signal(SIGXFSZ, SIG_IGN);  // write(2) beyond RLIMIT_FSIZE then fails with EFBIG
}

struct Prepared {
  Inheritance inheritance;
  std::string process_document = {};
};

// Called before ocirun opens any file. So the open descriptors above the preserved descriptors are
// leaks of the caller, such as the socket of a shim.
Result<Prepared> prepare_to_clone(const Arguments& arguments, char** argv) {
  Prepared prepared;
  Inheritance& inheritance = prepared.inheritance;
  inheritance.command_line = linux::CommandLine(argv);
  OCIRUN_TRY_ASSIGN(inheritance.listening_sockets, count_listening_sockets());
  OCIRUN_TRY_ASSIGN(inheritance.preserved_descriptors,
                    arguments.number("preserve-fds", 0, 1'000'000));
  // A file that ocirun opens later would get the number of a closed descriptor, and would reach the
  // container.
  for (int fd = 3; fd < 3 + inheritance.descriptors(); ++fd)
    if (::fcntl(fd, F_GETFD) < 0)
      return fail(errno, "LISTEN_FDS={}, --preserve-fds {}: descriptor {} is not open",
                  inheritance.listening_sockets, inheritance.preserved_descriptors, fd);
  const auto document = arguments.value("process");
  const auto document_descriptor = document ? named_descriptor(*document) : std::nullopt;
  std::vector<Fd> keep = inheritance.descriptor_list();
  if (document_descriptor) keep.push_back(Fd{*document_descriptor});
  linux::close_descriptors_but(keep);
  OCIRUN_TRY(linux::reexec_sealed(argv));
  // A container's process must not ptrace ocirun or read /proc/PID of ocirun. Init inherits the
  // cleared flag. Only root of the host can map the ids of such an init. For other users, init
  // clears the flag after the mapping.
  if (is_host_root()) ::prctl(PR_SET_DUMPABLE, 0);
  if (document) {
    // Reads the document before Signals::capture(): the read may wait for the writer of a pipe, and
    // a signal still ends ocirun.
    OCIRUN_TRY_ASSIGN(prepared.process_document, within(read_document(*document), "--process"));
    if (document_descriptor && *document_descriptor >= 3 + inheritance.descriptors())
      ::close(*document_descriptor);
  }
  OCIRUN_TRY(Signals::capture());
  inheritance.umask = ::umask(0);  // umask(2) returns the old umask
  // The new umask leaves the owner all rights, so that ocirun can use the files that ocirun makes.
  ::umask(inheritance.umask & (S_IRWXG | S_IRWXO));
  return prepared;
}

int print_and_exit(std::string_view text) { return print(text) ? 0 : 1; }

int usage_error(const Error& error) {
  ignore(linux::write_all(Fd{STDERR_FILENO}, fmt::format("ocirun: {}\n", error.message())));
  return 1;
}

// The remedy for an error that comes from the caller's RLIMIT_NOFILE: " (ulimit -n is 16: ocirun
// needs 64)". Otherwise "".
std::string advice(const Error& error, int inherited_descriptors) {
  constexpr int kOwnDescriptors = 64;  // twice the need of `run` with 13 cgroup hierarchies
  struct rlimit limit{};
  if (error.number() != EMFILE || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  return fmt::format(" (ulimit -n is {}: ocirun needs {})", limit.rlim_cur,
                     kOwnDescriptors + inherited_descriptors);
}

/// Commands of container engines, each with the command of ocirun that is meant.
constexpr std::pair<std::string_view, std::string_view> kEnginesWords[] = {
    {"inspect", "state"},     {"ls", "list"}, {"remove", "delete"},  {"rm", "delete"},
    {"stop", "kill"},         {"top", "ps"},  {"unpause", "resume"}, {"stats", "events --stats"},
    {"version", "--version"},
};

std::string_view meant_by(std::string_view word) {
  for (const auto& [engines, ours] : kEnginesWords)
    if (engines == word) return ours;
  return {};
}

Error unknown_command(std::string_view word) {
  if (word == "checkpoint" || word == "restore")
    return Error(0, fmt::format("unknown command \"{}\": this build has no checkpoint and restore "
                                "(OCIRUN_CRIU=OFF)",
                                word));
  return bundle::cli::unknown_command(program(), word, meant_by(word));
}

}  // namespace

Result<void> print(std::string_view text) {
  return within(linux::write_all(Fd{STDOUT_FILENO}, text), "stdout");
}

namespace {

int run_words(int argc, char** argv) {
  if (const auto open = open_standard_streams(); !open) return usage_error(open.error());
  choose_dispositions();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::size_t consumed = 0;
  const auto globals = bundle::cli::parse_before(program(), words, consumed);
  if (!globals) return usage_error(globals.error());
  if (globals->has("version")) return print_and_exit(version_text());
  if (globals->has("help")) return print_and_exit(help_text());
  if (consumed == words.size())
    return usage_error(Error(0, "a command is missing; see ocirun --help"));
  const bool wants_help = words[consumed] == "help";
  if (wants_help && ++consumed == words.size()) return print_and_exit(help_text());

  const Command* command = find_command(words[consumed]);
  const std::span<const std::string> rest = std::span(words).subspan(consumed + 1);
  if (command == nullptr && words[consumed] == bundle::cli::kCompletionCommand)
    return print_and_exit(complete_line(rest));
  if (command == nullptr) return usage_error(unknown_command(words[consumed]));
  if (command->executable == Executable::kOther) {
    if (const auto options = read_globals(*globals); !options) return usage_error(options.error());
    std::vector<std::string> of_pod(rest.begin(), rest.end());
    if (wants_help) of_pod.insert(of_pod.begin(), "help");
    return usage_error(
        become_pod_program(std::span(words).first(wants_help ? consumed - 1 : consumed), of_pod));
  }
  if (wants_help || bundle::cli::ask_for_help(*command, rest))
    return print_and_exit(bundle::cli::help_text(program(), *command));
  const auto options = read_globals(*globals);
  if (!options) return usage_error(options.error());
  auto arguments = bundle::cli::parse(program(), *command, rest);
  Result<Prepared> prepared = Prepared{};
  if (arguments && command->executable == Executable::kSealed)
    prepared = prepare_to_clone(*arguments, argv);
  // Opens the log after prepare_to_clone(), which would close the log's descriptor as a leak.
  auto log = Log::open(*options);
  if (!log) return usage_error(log.error());

  bundle::Recording recording;
  const auto outcome = linux::within_memory([&]() -> Result<int> {
    OCIRUN_TRY(arguments);
    OCIRUN_TRY(prepared);
    OCIRUN_TRY_ASSIGN(recording, begin_recording(*command, *arguments, *log));
    log->debug(fmt::format("{} begins, state root {}", command->name, options->root.string()));
    return command->run({.options = *options,
                         .log = *log,
                         .arguments = *arguments,
                         .inheritance = prepared->inheritance,
                         .recording = recording,
                         .process_document = prepared->process_document});
  });
  finish(recording, *log);
  if (outcome) return *outcome;
  Error error = outcome.error();
  std::string what(command->name);
  if (arguments && !arguments->operands().empty()) what += " " + arguments->operands().front();
  log->error(error.within(std::move(what)).message() +
             advice(error, prepared ? prepared->inheritance.descriptors() : 0));
  // Shells report a program that a signal has ended as 128 + the signal's number.
  return Signals::ended_by() != 0 ? 128 + Signals::ended_by() : command->failure_status;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  const auto status = linux::within_memory([&]() -> Result<int> {
    linux::reserve_memory();
    return run_words(argc, argv);
  });
  return status ? *status : usage_error(status.error());
}

}  // namespace ocirun::runtime::cli
