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

constexpr std::array kCreateOptions{kBundle,      kConsoleSocket, kPidFile,      kPidfdSocket,
                                    kPreserveFds, kNoPivot,       kNoNewKeyring, kNoSubreaper};
constexpr std::array kRunOptions{
    kBundle,       kConsoleSocket,
    kPidFile,      kPidfdSocket,
    kPreserveFds,  kNoPivot,
    kNoNewKeyring, kNoSubreaper,
    kDetach,       Option{"keep", 0, {}, "do not delete the container when its process has ended"}};
constexpr std::array kDeleteOptions{
    Option{"force", 'f', {}, "also a container that is not stopped; an unknown id is no error"}};
constexpr std::array kExecOptions{
    Option{"process", 'p', "FILE", "the process as JSON, as in config.json", Completes::kFile},
    kConsoleSocket,
    kPidFile,
    kPidfdSocket,
    kPreserveFds,
    kDetach,
    Option{"cwd", 0, "DIR", "working directory in the container"},
    Option{"env", 'e', "NAME=VALUE", "set a variable", Completes::kNothing, Times::kMany},
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
constexpr std::array kValidateOptions{kBundle};
// These options serve completion alone: another program, ocirun-pod, reads the options of `pod`.
constexpr std::array kPodOptions{
    Option{"profile", 0, "knative", "bundles under the Knative contract"},
    Option{"name", 0, "POD", "the pod's name"},
    Option{"images", 0, "DIR", "an OCI image layout", Completes::kDirectory},
    Option{"image", 0, "NAME=SOURCE", "where an image is"},
    Option{"pull", 0, "RULE", "always, missing or never"},
    Option{"pull-secret", 0, "NAME=AUTHFILE", "credentials for registries"},
    Option{"plain-http", 0, "HOST[:PORT]", "a registry without TLS"},
    Option{"pull-timeout", 0, "SECONDS", "until a pull is given up"},
    Option{"volume", 0, "NAME[=HOSTDIR]", "the directory for a volume"},
    Option{"secret", 0, "ID=DIR", "the directory of a secret"},
    Option{"param", 0, "NAME=VALUE", "the value of a parameter"},
    Option{"env", 'e', "NAME[=VALUE]", "a variable of all containers"},
    Option{"env-file", 0, "FILE", "variables of all containers", Completes::kFile},
    Option{"label", 0, "NAME=VALUE", "an annotation of all containers"},
    Option{"extended", 0, "NAME=VALUE", "an extended resource"},
    Option{"device", 0, "DEVICE", "a CDI device: VENDOR/CLASS=NAME"},
    Option{"cdi", 0, "DIR", "CDI specifications", Completes::kDirectory},
    Option{"enforce-required", 0, "", "required resources are limits"},
    Option{"user", 0, "USER", "run programs as USER"},
    Option{"forbid-root", 0, "", "refuse root"},
    Option{"read-only", 0, "", "read-only root filesystems"},
    Option{"seccomp", 0, "PROFILE", "default, unconfined or a file: the filter for system calls",
           Completes::kFile},
    Option{"seccomp-profiles", 0, "DIR", "files of the type Localhost", Completes::kDirectory},
    Option{"ignore", 0, "NAME[,NAME]", "what of a document is left out"},
    Option{"port", 0, "NUMBER", "the port of a Knative container"},
    Option{"restart", 0, "RULE", "always, on-failure or never"},
    Option{"detach", 'd', "", "return when all containers are started"},
    Option{"wait-ready", 0, "", "wait until all containers are ready"},
    Option{"replace", 0, "", "replace a pod of this name"},
    Option{"no-prefix", 0, "", "print lines without the container's name"},
    Option{"keep", 0, "", "keep the pod's record"},
    Option{"net", 0, "NETWORK", "pod, host, none or a path"},
    Option{"network", 0, "NAME", "a network of pods"},
    Option{"publish", 'p', "PORT=[IP:]HOSTPORT", "the port of the host for a port"},
    Option{"metadata", 0, "", "a metadata service for App Containers"},
    Option{"grace", 0, "SECONDS", "until SIGKILL"},
    Option{"log-dir", 0, "DIR", "where logs are written", Completes::kDirectory},
    Option{"runtime", 0, "PATH", "another OCI runtime", Completes::kFile},
    Option{"data", 0, "DIR", "where images and pods are kept", Completes::kDirectory},
    Option{"format", 0, "FORMAT", "json or text"},
    Option{"no-stream", 0, "", "print statistics once"},
    Option{"container", 'c', "CONTAINER", "which container"},
    Option{"follow", 'f', "", "wait for more"},
    Option{"since", 0, "TIME", "lines since then"},
    Option{"tail", 0, "NUMBER", "the last lines"},
    Option{"timestamps", 0, "", "print times"},
    Option{"tty", 't', "", "a terminal for the program"},
    Option{"force", 0, "", "kill a pod that runs"},
    Option{"output", 'o', "DIR", "where bundles or units are written", Completes::kDirectory},
    Option{"user-unit", 0, "", "units for a user's service manager"},
    Option{"activate", 0, "", "start the pod at the first connection"},
    Option{"to", 0, "kubernetes|swarm", "the engine of an export", Completes::kWords},
    Option{"kind", 0, "Deployment|Pod|StatefulSet", "the object of an export", Completes::kWords},
    Option{"runtime-class", 0, "NAME", "the runtime of an export's pods"},
    Option{"size", 0, "NAME=SIZE", "the size of a persistent volume"},
    Option{"port-mode", 0, "ingress|host", "where Swarm opens ports", Completes::kWords},
    Option{"endpoint-mode", 0, "vip|dnsrr", "what a service's name leads to", Completes::kWords},
    Option{"lossy", 0, "", "comments for what an engine cannot say"}};

constexpr Operand kAnyContainer{Completes::kContainer};
constexpr Operand kBundleOperand{Completes::kDirectory};

constexpr std::array kCommands{
    Command{.name = "create",
            .operands = "ID",
            .summary = "make a container; its program waits for start",
            .options = kCreateOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_create,
            .executable = Executable::kSealed},
    Command{.name = "start",
            .operands = "ID",
            .summary = "run the program of a created container",
            .options = {},
            .least_operands = 1,
            .most_operands = 1,
            .run = run_start,
            .completed_operands = {Operand{Completes::kContainer, can_start}}},
    Command{.name = "run",
            .operands = "BUNDLE | [--bundle BUNDLE] ID",
            .summary = "create and start a container, wait for it and delete it",
            .options = kRunOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_run,
            .executable = Executable::kSealed,
            .completed_operands = {kBundleOperand}},
    Command{.name = "state",
            .operands = "ID",
            .summary = "print the state of a container as JSON",
            .options = {},
            .least_operands = 1,
            .most_operands = 1,
            .run = run_state,
            .completed_operands = {kAnyContainer}},
    Command{.name = "kill",
            .operands = "ID [SIGNAL]",
            .summary = "send a signal (default TERM, or the image's stop signal)",
            .options = kKillOptions,
            .least_operands = 1,
            .most_operands = 2,
            .run = run_kill,
            .completed_operands = {Operand{Completes::kContainer, can_kill, "all"},
                                   Operand{Completes::kSignal}}},
    Command{.name = "delete",
            .operands = "ID",
            .summary = "remove a stopped container",
            .options = kDeleteOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_delete,
            .completed_operands = {Operand{Completes::kContainer, can_delete, "force"}}},
    Command{.name = "exec",
            .operands = "ID [PROGRAM [ARGUMENT...]]",
            .summary = "run another program in a container",
            .options = kExecOptions,
            .least_operands = 1,
            .most_operands = 100'000,
            .run = run_exec,
            .placement = OptionPlacement::kUntilPositional,
            .executable = Executable::kSealed,
            .failure_status = 255,
            .completed_operands = {Operand{Completes::kContainer, can_exec, "ignore-paused",
                                           can_kill}}},
    Command{.name = "list",
            .operands = "",
            .summary = "list the containers of the state root",
            .options = kListOptions,
            .least_operands = 0,
            .most_operands = 0,
            .run = run_list},
    Command{.name = "ps",
            .operands = "ID [PS-ARGUMENT...]",
            .summary = "show the processes of a container",
            .options = kPsOptions,
            .least_operands = 1,
            .most_operands = 100'000,
            .run = run_ps,
            .placement = OptionPlacement::kUntilPositional,
            .completed_operands = {kAnyContainer}},
    Command{.name = "pause",
            .operands = "ID",
            .summary = "freeze the processes of a container",
            .options = {},
            .least_operands = 1,
            .most_operands = 1,
            .run = run_pause,
            .completed_operands = {Operand{Completes::kContainer, can_pause}}},
    Command{.name = "resume",
            .operands = "ID",
            .summary = "thaw the processes of a paused container",
            .options = {},
            .least_operands = 1,
            .most_operands = 1,
            .run = run_resume,
            .completed_operands = {Operand{Completes::kContainer, can_resume}}},
    Command{.name = "update",
            .operands = "ID",
            .summary = "change the limits and devices of a container",
            .options = kUpdateOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_update,
            .completed_operands = {Operand{Completes::kContainer, can_update}}},
    Command{.name = "events",
            .operands = "ID",
            .summary = "print what a container uses, and that it ran out of memory",
            .options = kEventsOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_events,
            .completed_operands = {Operand{Completes::kContainer, can_kill}}},
    Command{.name = "spec",
            .operands = "",
            .summary = "write a config.json to start from",
            .options = kSpecOptions,
            .least_operands = 0,
            .most_operands = 0,
            .run = run_spec},
    Command{.name = "features",
            .operands = "",
            .summary = "print what this build implements as JSON",
            .options = {},
            .least_operands = 0,
            .most_operands = 0,
            .run = run_features},
    Command{.name = "validate",
            .operands = "[BUNDLE]",
            .summary = "check a config.json and tell all that is wrong with it",
            .options = kValidateOptions,
            .least_operands = 0,
            .most_operands = 1,
            .run = run_validate,
            .completed_operands = {kBundleOperand}},
    Command{
        .name = "pod",
        .operands = "COMMAND [OPERAND...]",
        .summary = "work on workload documents (OAM, App Container, Knative, Kubernetes, Radius)",
        .options = kPodOptions,
        .least_operands = 0,
        .most_operands = 100'000,
        .run = nullptr,
        .executable = Executable::kOther,
        .completed_operands = {Operand{Completes::kFile}, Operand{Completes::kFile}}},
    Command{.name = "completion",
            .operands = "bash|zsh|fish",
            .summary = "print a completion script",
            .options = {},
            .least_operands = 1,
            .most_operands = 1,
            .run = run_completion,
            .completed_operands = {Operand{Completes::kWords}}},
};

constinit AddedCommands added = {};

}  // namespace

void add_commands(const AddedCommands& commands) { added = commands; }
const AddedCommands& added_commands() { return added; }

std::vector<Command> all_commands() {
  std::vector<Command> all(kCommands.begin(), kCommands.end());
  const auto next =
      std::ranges::find(all, "list", &Command::name);  // behind those of a container's life
  all.insert(next, added.commands.begin(), added.commands.end());
  return all;
}

std::span<const Option> global_options() { return kGlobalOptions; }

const Command* find_command(std::string_view name) {
  for (const std::span<const Command> commands :
       {std::span<const Command>(kCommands), added.commands})
    for (const Command& command : commands)
      if (command.name == name) return &command;
  return nullptr;
}

}  // namespace ocirun::runtime::cli
