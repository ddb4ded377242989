#include <algorithm>
#include <array>

#include "runtime/cli/commands.hpp"
#include "runtime/cli/update_options.hpp"

namespace ocirun::runtime::cli {
namespace {

constexpr std::array kGlobalOptions{
    Option{
        "root", 0, "DIR",
        "where the state of containers is kept (default /run/ocirun, or $XDG_RUNTIME_DIR/ocirun)"},
    Option{"log", 0, "FILE", "append messages to FILE; errors go to stderr as well"},
    Option{"log-format", 0, "text|json", "how they are written to it (default text)"},
    Option{"log-level", 0, "LEVEL", "debug, info, warning or error (default info)"},
    Option{"debug", 0, {}, "the same as --log-level debug"},
    Option{"cgroup-manager", 0, "cgroupfs|systemd|disabled",
           "who manages cgroups (default cgroupfs)"},
    Option{"systemd-cgroup", 0, {}, "the same as --cgroup-manager systemd"},
    Option{"rootless", 0, "true|false|auto",
           "whether what only the host's root may do is left out (default auto)"},
    Option{"criu", 0, "PATH", "accepted for runc's sake; there is no checkpoint command"},
    Option{"version", 'v', {}, "print the version"},
    Option{"help", 'h', {}, "print this help"},
};

constexpr Option kBundle{"bundle", 'b', "DIR",
                         "the bundle: config.json and the root filesystem (default .)"};
constexpr Option kConsoleSocket{"console-socket", 0, "PATH",
                                "the AF_UNIX socket that gets the terminal"};
constexpr Option kPidFile{"pid-file", 0, "FILE", "write the process's number to FILE"};
constexpr Option kPidfdSocket{"pidfd-socket", 0, "PATH",
                              "the AF_UNIX socket that gets a pidfd of the process"};
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
constexpr std::array kDeleteOptions{
    Option{"force", 'f', {}, "also a container that is not stopped; an unknown id is no error"}};
constexpr std::array kExecOptions{
    Option{"process", 'p', "FILE", "the process as JSON, as in config.json"},
    kConsoleSocket,
    kPidFile,
    kPidfdSocket,
    kPreserveFds,
    kDetach,
    Option{"cwd", 0, "DIR", "working directory in the container"},
    Option{"env", 'e', "NAME=VALUE", "set a variable; repeatable"},
    Option{"tty", 't', {}, "allocate a terminal"},
    Option{"user", 'u', "UID[:GID]", "numbers, as the container sees them"},
    Option{"additional-gids", 'g', "GID", "one more group; repeatable"},
    Option{"process-label", 0, "LABEL", "SELinux label"},
    Option{"apparmor", 0, "PROFILE", "AppArmor profile"},
    Option{"no-new-privs", 0, {}, "set no_new_privs"},
    Option{"cap", 'c', "CAP_NAME", "add a capability; repeatable"},
    Option{"cgroup", 0, "[CTRL:]PATH", "a cgroup below the container's; repeatable"},
    Option{"ignore-paused", 0, {}, "also in a paused container, where it will wait"},
    Option{"no-subreaper", 0, {}, "accepted for runc's sake"},
};
constexpr std::array kEventsOptions{
    Option{"stats", 0, {}, "print what it uses once, and end"},
    Option{"interval", 0, "DURATION", "between two of them (default 5s)"}};
constexpr std::array kKillOptions{Option{"all", 'a', {}, "signal every process of the container"}};
constexpr std::array kListOptions{Option{"quiet", 'q', {}, "ids only"},
                                  Option{"format", 'f', "table|json", "(default table)"}};
constexpr std::array kPsOptions{Option{"format", 'f', "table|json", "(default table)"}};
constexpr std::array kSpecOptions{
    kBundle, Option{"rootless", 0, {}, "for a user without privileges"},
    Option{"upgrade", 0, "FILE", "print a 0.5 or 0.6 document in its 1.3 form"}};
constexpr std::array kValidateOptions{kBundle};

constexpr std::array kCommands{
    Command{"create", "ID", "make a container; its program waits for start", kCreateOptions, 1, 1,
            run_create, OptionPlacement::kAnywhere, Executable::kSealed},
    Command{"start", "ID", "run the program of a created container", {}, 1, 1, run_start},
    Command{"run", "ID | BUNDLE", "create and start a container, wait for it and delete it",
            kRunOptions, 1, 1, run_run, OptionPlacement::kAnywhere, Executable::kSealed},
    Command{"state", "ID", "print the state of a container as JSON", {}, 1, 1, run_state},
    Command{"kill", "ID [SIGNAL]", "send a signal (default TERM, or the image's stop signal)",
            kKillOptions, 1, 2, run_kill},
    Command{"delete", "ID", "remove a stopped container", kDeleteOptions, 1, 1, run_delete},
    Command{"exec", "ID [PROGRAM [ARGUMENT...]]", "run another program in a container",
            kExecOptions, 1, 100'000, run_exec, OptionPlacement::kUntilPositional,
            Executable::kSealed, 255},
    Command{"list", "", "list the containers of the state root", kListOptions, 0, 0, run_list},
    Command{"ps", "ID [PS-ARGUMENT...]", "show the processes of a container", kPsOptions, 1,
            100'000, run_ps, OptionPlacement::kUntilPositional},
    Command{"pause", "ID", "freeze the processes of a container", {}, 1, 1, run_pause},
    Command{"resume", "ID", "thaw them", {}, 1, 1, run_resume},
    Command{"update", "ID", "change the limits and devices of a container", kUpdateOptions, 1, 1,
            run_update},
    Command{"events", "ID", "print what a container uses, and that it ran out of memory",
            kEventsOptions, 1, 1, run_events},
    Command{"spec", "", "write a config.json to start from", kSpecOptions, 0, 0, run_spec},
    Command{"features", "", "print what this build implements as JSON", {}, 0, 0, run_features},
    Command{"validate", "[BUNDLE]", "check a config.json and tell all that is wrong with it",
            kValidateOptions, 0, 1, run_validate},
    Command{"completion", "bash", "print a completion script", {}, 1, 1, run_completion},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }
std::span<const Option> global_options() { return kGlobalOptions; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace ocirun::runtime::cli
