#include <algorithm>
#include <array>

#include "runtime/cli/commands.hpp"
#include "runtime/cli/update_options.hpp"

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

constexpr Option kBundle{"bundle", 'b', "DIR",
                         "the bundle: config.json and the root filesystem (default .)",
                         Completes::kDirectory};
constexpr Option kConsoleSocket{"console-socket", 0, "PATH",
                                "the AF_UNIX socket that gets the terminal", Completes::kFile};
constexpr Option kPidFile{"pid-file", 0, "FILE", "write the process's number to FILE",
                          Completes::kFile};
constexpr Option kPidfdSocket{"pidfd-socket", 0, "PATH",
                              "the AF_UNIX socket that gets a pidfd of the process",
                              Completes::kFile};
constexpr Option kPreserveFds{"preserve-fds", 0, "N",
                              "pass descriptors 3 to 3+N-1 on to the container"};
constexpr Option kNoPivot{
    "no-pivot", 0, {}, "use MS_MOVE and chroot instead of pivot_root, for a root on a ramdisk"};
constexpr Option kNoNewKeyring{"no-new-keyring", 0, {}, "keep the caller's session keyring"};
constexpr Option kNoSubreaper{
    "no-subreaper", 0, {}, "accepted for runc's sake; ocirun never is a subreaper"};
constexpr Option kDetach{"detach", 'd', {}, "return when the program runs"};

constexpr std::array kCreateOptions{kBundle,      kConsoleSocket, kPidFile,      kPidfdSocket,
                                    kPreserveFds, kNoPivot,       kNoNewKeyring, kNoSubreaper};
constexpr std::array kRunOptions{
    kBundle,       kConsoleSocket,
    kPidFile,      kPidfdSocket,
    kPreserveFds,  kNoPivot,
    kNoNewKeyring, kNoSubreaper,
    kDetach,       Option{"keep", 0, {}, "do not delete the container when its process has ended"}};
constexpr Option kImagePath{"image-path", 0, "DIR",
                            "the directory of the images (default checkpoint)",
                            Completes::kDirectory};
constexpr Option kWorkPath{"work-path", 0, "DIR",
                           "the directory of criu's log (default: that of the images)",
                           Completes::kDirectory};
constexpr Option kTcpEstablished{"tcp-established", 0, {}, "save open TCP connections"};
constexpr Option kTcpSkipInFlight{
    "tcp-skip-in-flight", 0, {}, "leave out TCP connections that are being made"};
constexpr Option kLinkRemap{
    "link-remap", 0, {}, "save open files that were removed, by links beside them"};
constexpr Option kExtUnixSk{"ext-unix-sk", 0, {}, "allow connections to unix sockets outside"};
constexpr Option kShellJob{"shell-job", 0, {}, "allow a program on a terminal of the host"};
constexpr Option kFileLocks{"file-locks", 0, {}, "save file locks"};
constexpr Option kLazyPages{"lazy-pages", 0, {}, "send pages of memory when they are needed"};
constexpr Option kManageCgroups{"manage-cgroups-mode", 0, "soft|full|strict|ignore",
                                "what criu does with cgroups (default soft)", Completes::kWords};
constexpr Option kEmptyNs{"empty-ns",          0,
                          "network",           "do not save what is in this namespace",
                          Completes::kNothing, Times::kMany};
constexpr Option kAutoDedup{"auto-dedup", 0, {}, "remove pages from images that a later one has"};
constexpr Option kNetworkLock{"network-lock", 0, "iptables|nftables|skip",
                              "how criu locks the network (default iptables)", Completes::kWords};
constexpr std::array kCheckpointOptions{
    kImagePath,
    kWorkPath,
    Option{"parent-path", 0, "DIR", "the images of the last pre-dump, relative to the new ones",
           Completes::kDirectory},
    Option{"leave-running", 0, {}, "let the container run on"},
    Option{"pre-dump", 0, {}, "save the memory alone, and let the container run on"},
    kTcpEstablished,
    kTcpSkipInFlight,
    kLinkRemap,
    kExtUnixSk,
    kShellJob,
    kFileLocks,
    kLazyPages,
    Option{"status-fd", 0, "N", "gets a zero byte when pages can be fetched"},
    Option{"page-server", 0, "ADDRESS:PORT", "send pages of memory to a criu page-server"},
    kManageCgroups,
    kEmptyNs,
    kAutoDedup,
    kNetworkLock};
constexpr std::array kRestoreOptions{
    kBundle,
    kImagePath,
    kWorkPath,
    kConsoleSocket,
    kPidFile,
    kDetach,
    kPreserveFds,
    Option{"no-pivot", 0, {}, "accepted for runc's sake; criu enters the root"},
    kNoSubreaper,
    Option{"trust-images", 0, {}, "do not compare what was restored with config.json"},
    Option{"parent-path", 0, "DIR", "accepted for engines' sake; the images know their parent",
           Completes::kDirectory},
    kTcpEstablished,
    kTcpSkipInFlight,
    kLinkRemap,
    kExtUnixSk,
    kShellJob,
    kFileLocks,
    kLazyPages,
    kManageCgroups,
    kEmptyNs,
    kAutoDedup,
    kNetworkLock,
    Option{"lsm-profile", 0, "TYPE:NAME", "another LSM profile, as in apparmor:NAME"},
    Option{"lsm-mount-context", 0, "CONTEXT", "another SELinux context of the mounts"}};
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
// For completion alone: ocirun-pod has the command and reads its options.
constexpr std::array kPodOptions{
    Option{"profile", 0, "knative", "check bundles by the Knative contract"},
    Option{"name", 0, "POD", "the pod's name"},
    Option{"images", 0, "DIR", "an OCI image layout", Completes::kDirectory},
    Option{"image", 0, "NAME=SOURCE", "where an image is"},
    Option{"volume", 0, "NAME=HOSTDIR", "the directory for a volume"},
    Option{"secret", 0, "ID=DIR", "the directory of a secret"},
    Option{"param", 0, "NAME=VALUE", "the value of a parameter"},
    Option{"extended", 0, "NAME=VALUE", "an extended resource"},
    Option{"enforce-required", 0, "", "required resources are limits"},
    Option{"user", 0, "USER", "run programs as USER"},
    Option{"forbid-root", 0, "", "refuse root"},
    Option{"read-only", 0, "", "read-only root filesystems"},
    Option{"seccomp", 0, "PROFILE", "default, unconfined or a file: the filter for system calls",
           Completes::kFile},
    Option{"port", 0, "NUMBER", "the port of a Knative container"},
    Option{"restart", 0, "RULE", "always, on-failure or never"},
    Option{"detach", 'd', "", "return when all containers are started"},
    Option{"wait-ready", 0, "", "wait until all containers are ready"},
    Option{"no-prefix", 0, "", "print lines without the container's name"},
    Option{"keep", 0, "", "keep the pod's record"},
    Option{"net", 0, "NETWORK", "pod, host, none or a path"},
    Option{"metadata", 0, "", "a metadata service for App Containers"},
    Option{"grace", 0, "SECONDS", "until SIGKILL"},
    Option{"log-dir", 0, "DIR", "where logs are written", Completes::kDirectory},
    Option{"runtime", 0, "PATH", "another OCI runtime", Completes::kFile},
    Option{"data", 0, "DIR", "where images and pods are kept", Completes::kDirectory},
    Option{"format", 0, "FORMAT", "json or text"},
    Option{"container", 'c', "CONTAINER", "which container"},
    Option{"follow", 'f', "", "wait for more"},
    Option{"since", 0, "TIME", "lines since then"},
    Option{"tail", 0, "NUMBER", "the last lines"},
    Option{"timestamps", 0, "", "print times"},
    Option{"tty", 't', "", "a terminal for the program"},
    Option{"force", 0, "", "kill a pod that runs"},
    Option{"output", 'o', "DIR", "where bundles are written", Completes::kDirectory}};

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
    Command{.name = "checkpoint",
            .operands = "ID",
            .summary = "save a running container to a directory of images",
            .options = kCheckpointOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_checkpoint,
            .completed_operands = {Operand{Completes::kContainer, can_checkpoint}}},
    Command{.name = "restore",
            .operands = "ID",
            .summary = "make a container from images, in which its program goes on",
            .options = kRestoreOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_restore,
            .executable = Executable::kSealed},
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
    Command{.name = "pod",
            .operands = "COMMAND [OPERAND...]",
            .summary = "work on workload documents (OAM, App Container, Knative, Radius)",
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

}  // namespace

std::span<const Command> all_commands() { return kCommands; }
std::span<const Option> global_options() { return kGlobalOptions; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace ocirun::runtime::cli
