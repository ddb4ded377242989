#include <algorithm>
#include <array>

#include "runtime/cli/command.hpp"
#include "runtime/cli/options.hpp"

namespace ocirun::runtime::cli {
namespace {

constexpr std::array kGlobalOptions{
    Option{
        "root", 0, "DIR",
        "where the state of containers is kept (default /run/ocirun, or $XDG_RUNTIME_DIR/ocirun)",
        Completes::kDirectory},
    Option{"log", 0, "FILE", "append messages to FILE; errors go to stderr as well",
           Completes::kFile},
    Option{"log-format", 0, "text|json", "the format of the messages (default text)",
           Completes::kWords},
    Option{"log-level", 0, "debug|info|warning|error",
           "the least severe message that is written (default info)", Completes::kWords},
    Option{"debug", 0, {}, "the same as --log-level debug"},
    Option{"cgroup-manager", 0, "cgroupfs|systemd|disabled",
           "who manages cgroups (default cgroupfs)", Completes::kWords},
    Option{"systemd-cgroup", 0, {}, "the same as --cgroup-manager systemd"},
    Option{"rootless", 0, "true|false|auto",
           "leave out what only the host's root may do; auto: for other users (default auto)",
           Completes::kWords},
    Option{"criu", 0, "PATH", "the program criu, for checkpoint and restore (default: in $PATH)",
           Completes::kFile},
    Option{"version", 'v', {}, "print the version"},
    Option{"help", 'h', {}, "print this help"},
};

constexpr std::array kCreateOptions{kBundle,        kConsoleSocket, kPidFile,      kPidfdSocket,
                                    kPreserveFds,   kNoPivot,       kNoNewKeyring, kNoSubreaper,
                                    kPinNamespaces, kTrace};
constexpr std::array kRunOptions{
    kBundle,
    kConsoleSocket,
    kPidFile,
    kPidfdSocket,
    kPreserveFds,
    kNoPivot,
    kNoNewKeyring,
    kNoSubreaper,
    kPinNamespaces,
    kDetach,
    kTrace,
    Option{"seccomp-learn", 0, "FILE", "write a profile of the system calls that were used to FILE",
           Completes::kFile},
    Option{"keep", 0, {}, "do not delete the container when its process has ended"}};
constexpr std::array kDeleteOptions{
    Option{"force", 'f', {}, "also a container that is not stopped; an unknown id is no error"}};
constexpr std::array kExecOptions{
    Option{"process", 'p', "FILE", "the process as JSON, as in config.json", Completes::kFile},
    kConsoleSocket,
    kPidFile,
    kPidfdSocket,
    kPreserveFds,
    kDetach,
    kTrace,
    Option{"cwd", 0, "DIR", "working directory in the container"},
    Option{"env", 'e', "NAME=VALUE", "set a variable", Completes::kNothing, Times::kMany},
    Option{"interactive", 'i', {}, "accepted: standard input is always passed"},
    Option{"tty", 't', {}, "allocate a terminal"},
    Option{"user", 'u', "UID[:GID]", "numbers, as the container sees them"},
    Option{"additional-gids", 'g', "GID", "one more group", Completes::kNothing, Times::kMany},
    Option{"process-label", 0, "LABEL", "SELinux label"},
    Option{"apparmor", 0, "PROFILE", "AppArmor profile"},
    Option{"no-new-privs", 0, {}, "set no_new_privs"},
    Option{"cap", 'c', "CAP_NAME", "add a capability", Completes::kCapability, Times::kMany},
    Option{"cgroup", 0, "[CTRL:]PATH", "a cgroup below the container's", Completes::kNothing,
           Times::kMany},
    Option{"ignore-paused", 0, {}, "enter a paused container too: the process waits for resume"},
    Option{"no-subreaper", 0, {}, "accepted for runc's sake"},
};
constexpr std::array kEventsOptions{
    Option{"stats", 0, {}, "print the statistics once, and exit"},
    Option{"interval", 0, "DURATION", "the time between two statistics (default 5s)"}};
constexpr std::array kKillOptions{Option{"all", 'a', {}, "signal every process of the container"}};
constexpr std::array kListOptions{
    Option{"quiet", 'q', {}, "ids only"},
    Option{"format", 'f', "table|json", "(default table)", Completes::kWords}};
constexpr std::array kPsOptions{
    Option{"format", 'f', "table|json", "(default table)", Completes::kWords}};
constexpr std::array kSpecOptions{
    kBundle, Option{"rootless", 0, {}, "for a user without privileges"},
    Option{"upgrade", 0, "FILE", "print a 0.5 or 0.6 document in its 1.3 form", Completes::kFile}};
constexpr std::array kInspectOptions{
    Option{"format", 'f', "text|json", "(default text)", Completes::kWords},
    Option{"drift",
           0,
           {},
           "print only what is not as asked; ends with 3, or with 4 if something is not known"}};
constexpr std::array kMountsOptions{
    Option{"mount", 0, "MOUNT", "type=bind,source=DIR,destination=DIR,options=ro:nosuid",
           Completes::kNothing, Times::kMany},
    Option{"format", 'f', "text|json", "of `list` (default text)", Completes::kWords}};
constexpr std::array kTraceOptions{Option{"svg", 0, {}, "print a picture instead of a table"}};
constexpr std::array kValidateOptions{kBundle};

constexpr Operand kAnyContainer{Completes::kContainer};
constexpr Operand kBundleOperand{Completes::kDirectory};

constexpr std::array kCommands{
    Command{
        {"create", "ID", "make a container; its program waits for start", kCreateOptions, {1, 1}},
        run_create,
        Executable::kSealed},
    Command{{"start",
             "ID",
             "run the program of a created container",
             {},
             {1, 1},
             {Operand{Completes::kContainer, can_start}}},
            run_start},
    Command{{"run",
             "BUNDLE | [--bundle BUNDLE] ID",
             "create and start a container, wait for it and delete it",
             kRunOptions,
             {1, 1},
             {kBundleOperand}},
            run_run,
            Executable::kSealed},
    Command{{"state", "ID", "print the state of a container as JSON", {}, {1, 1}, {kAnyContainer}},
            run_state},
    Command{{"kill",
             "ID [SIGNAL]",
             "send a signal (default TERM, or the image's stop signal)",
             kKillOptions,
             {1, 2},
             {Operand{Completes::kContainer, can_kill, "all"}, Operand{Completes::kSignal}}},
            run_kill},
    Command{{"delete",
             "ID",
             "remove a stopped container",
             kDeleteOptions,
             {1, 1},
             {Operand{Completes::kContainer, can_delete, "force"}}},
            run_delete},
    Command{{"exec",
             "ID [PROGRAM [ARGUMENT...]]",
             "run another program in a container",
             kExecOptions,
             {1, kAnyNumber},
             {Operand{Completes::kContainer, can_exec, "ignore-paused", can_kill}},
             OptionPlacement::kUntilOperand},
            run_exec,
            Executable::kSealed,
            255},
    Command{{"list", "", "list the containers of the state root", kListOptions, {0, 0}}, run_list},
    Command{{"ps",
             "ID [PS-ARGUMENT...]",
             "show the processes of a container",
             kPsOptions,
             {1, kAnyNumber},
             {kAnyContainer},
             OptionPlacement::kUntilOperand},
            run_ps},
    Command{{"pause",
             "ID",
             "freeze the processes of a container",
             {},
             {1, 1},
             {Operand{Completes::kContainer, can_pause}}},
            run_pause},
    Command{{"resume",
             "ID",
             "thaw the processes of a paused container",
             {},
             {1, 1},
             {Operand{Completes::kContainer, can_resume}}},
            run_resume},
    Command{{"update",
             "ID",
             "change the limits and devices of a container",
             kUpdateOptions,
             {1, 1},
             {Operand{Completes::kContainer, can_update}}},
            run_update},
    Command{{"events",
             "ID",
             "print what a container uses, and that it ran out of memory",
             kEventsOptions,
             {1, 1},
             {Operand{Completes::kContainer, can_kill}}},
            run_events},
    Command{{"mounts",
             "add|remove|list ID [FILE]",
             "mount into a running container, and take mounts away",
             kMountsOptions,
             {2, 3},
             {Operand{}, Operand{Completes::kContainer, can_update}, Operand{Completes::kFile}}},
            run_mounts},
    Command{{"inspect",
             "ID",
             "compare a container with its config.json",
             kInspectOptions,
             {1, 1},
             {kAnyContainer}},
            run_inspect},
    Command{{"trace",
             "FILE [FILE]",
             "print a timeline that --trace has written, or compare two",
             kTraceOptions,
             {1, 2},
             {Operand{Completes::kFile}, Operand{Completes::kFile}}},
            run_trace},
    Command{{"spec", "", "write a config.json to start from", kSpecOptions, {0, 0}}, run_spec},
    Command{{"features", "", "print what this build implements as JSON", {}, {0, 0}}, run_features},
    Command{{"validate",
             "[BUNDLE]",
             "check a config.json and tell all that is wrong with it",
             kValidateOptions,
             {0, 1},
             {kBundleOperand}},
            run_validate},
    Command{{"pod",
             "COMMAND [OPERAND...]",
             "work on workload documents (OAM, App Container, Knative, Kubernetes, Radius)",
             {},
             {0, kAnyNumber}},
            nullptr,
            Executable::kOther},
    Command{{"completion",
             "bash|zsh|fish",
             "print a completion script",
             {},
             {1, 1},
             {Operand{Completes::kWords}}},
            run_completion},
};

/// kCommands, and room for the commands of add_commands().
constinit auto syntaxes = [] {
  std::array<const bundle::cli::Syntax*, kCommands.size() + kMostAdded> all{};
  for (std::size_t i = 0; i < kCommands.size(); ++i) all.at(i) = &kCommands.at(i);
  return all;
}();
constinit bundle::cli::Program this_program{.name = "ocirun",
                                            .options = kGlobalOptions,
                                            .commands = std::span(syntaxes).first(kCommands.size()),
                                            .empty_value = bundle::cli::EmptyValue::kIsNone};
constinit AddedCommands added = {};

}  // namespace

void add_commands(const AddedCommands& commands) {
  added = commands;
  // Puts the added commands in front of `list`: help shows them behind the commands of a
  // container's life.
  const auto end = syntaxes.begin() + kCommands.size();
  const auto place = std::find_if(syntaxes.begin(), end,
                                  [](const auto* syntax) { return syntax->name == "list"; });
  std::move_backward(place, end, end + static_cast<std::ptrdiff_t>(commands.commands.size()));
  std::ranges::transform(commands.commands, place, [](const Command& command) { return &command; });
  this_program.commands = std::span(syntaxes).first(kCommands.size() + commands.commands.size());
}
const AddedCommands& added_commands() { return added; }

const bundle::cli::Program& program() { return this_program; }

const Command* find_command(std::string_view name) {
  return static_cast<const Command*>(bundle::cli::find_syntax(this_program, name));
}

Result<ContainerId> id_of(const Arguments& arguments) {
  if (arguments.operands().empty()) return refuse("a container id is missing");
  return ContainerId::parse(arguments.operands().front());
}

}  // namespace ocirun::runtime::cli
