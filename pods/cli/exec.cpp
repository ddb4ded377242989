#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/process/exec.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/views.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/container_root.hpp"
#include "pods/run/exec_process.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kExecOptions{
    kContainerOption,
    Option{"interactive", 'i', {}, "accepted: the program always has standard input"},
    Option{"stdin", 0, {}, "the same as --interactive"},
    Option{"tty", 't', {}, "give the program a terminal"},
    Option{"user", 'u', "USER[:GROUP]", "names of the container's /etc/passwd, or numbers"},
    Option{"env", 'e', "NAME[=VALUE]", "set a variable; NAME alone: as it is here, if it is set",
           Completes::kNothing, Times::kMany},
    Option{"workdir", 'w', "DIR", "working directory in the container"},
    Option{"cwd", 0, "DIR", "the same as --workdir"},
    kDataOption,
};

/// --user. `group` may be "": the user's own.
struct NamedUser {
  std::string user, group;
};

Result<std::optional<NamedUser>> read_user(const Arguments& arguments) {
  const auto text = arguments.value("user");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  NamedUser named;
  named.user = linux::cut(rest, ':');
  named.group = rest;
  if (named.user.empty() || (text->contains(':') && named.group.empty()))
    return refuse("--user \"{}\": must be USER or USER:GROUP, names or numbers",
                  linux::in_one_line(*text));
  return named;
}

/// --env. A variable that is named alone, and that the caller does not have, is not set.
Result<Environment> read_env(const Arguments& arguments) {
  Environment env;
  for (const std::string& text : arguments.values("env")) {
    std::string_view value = text;
    const std::string name(linux::cut(value, '='));
    if (name.empty())  // the value may be a secret
      return refuse("--env \"{}\": must be NAME=VALUE or NAME", text.empty() ? "" : "=...");
    if (text.contains('='))
      env.set_entry(text);
    else if (const char* own = std::getenv(name.c_str()))
      env.set(name, own);
  }
  return env;
}

Result<std::optional<std::string>> read_directory(const Arguments& arguments) {
  if (arguments.has("workdir") && arguments.has("cwd"))
    return refuse("--workdir and --cwd are the same option: give one of them");
  const char* option = arguments.has("cwd") ? "cwd" : "workdir";
  auto directory = arguments.value(option);
  if (directory && !directory->starts_with('/'))
    return refuse("--{} \"{}\": must be an absolute path in the container", option,
                  linux::in_one_line(*directory));
  return directory;
}

Result<ExecutedProgram> read_program(const Arguments& arguments) {
  ExecutedProgram program;
  program.arguments.assign(arguments.operands().begin() + 1, arguments.operands().end());
  program.has_terminal = arguments.has("tty");
  OCIRUN_TRY_ASSIGN(program.variables, read_env(arguments));
  OCIRUN_TRY_ASSIGN(program.directory, read_directory(arguments));
  return program;
}

Result<ExecProcess> pattern_of(const PodsDirectory& pods, const PodView& view,
                               const ContainerRecord& container) {
  OCIRUN_TRY_ASSIGN(const PodDirectory pod, pods.open_pod(view.record.name));
  const std::string config = fmt::format("{}/{}/config.json", kContainers, container.name);
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::read_file(pod.fd(), config, bundle::Document::kMaxSize));
  return within(ExecProcess::parse(text), "container \"{}\"", container.name);
}

/// A file in memory with this text, for a program that is executed. Returns its path there.
Result<std::string> path_of_text(std::string_view text) {
  OCIRUN_TRY_ASSIGN(UniqueFd file, linux::make_memory_file("process.json"));
  OCIRUN_TRY(linux::write_all(file, text));
  if (::lseek(file.get(), 0, SEEK_SET) != 0 || ::fcntl(file.get(), F_SETFD, 0) != 0)
    return fail(errno, "pass on the program's process");
  return fmt::format("/proc/self/fd/{}", file.release());
}

/// Sets TERM to the caller's, unless --env or the container sets it.
void set_terminal_name(ExecutedProgram& program, const ExecProcess& process) {
  const char* own = std::getenv("TERM");
  if (own != nullptr && bundle::is_utf8(own) && !process.has_variable("TERM") &&
      !program.variables.variables().contains("TERM"))
    program.variables.set("TERM", own);
}

/// Whether the options of a runtime's `exec` say all that the caller wants: each runtime has its
/// own idea of --env, and none looks a user up. Arguments that are not UTF-8 go this way too, and
/// with a terminal lack TERM.
bool options_suffice(const Arguments& arguments, const ExecutedProgram& program) {
  for (const char* option : {"user", "env", "workdir", "cwd"})
    if (arguments.has(option)) return false;
  return !program.has_terminal || !std::ranges::all_of(program.arguments, bundle::is_utf8);
}

Result<int> exec(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(ExecutedProgram program, read_program(arguments));
  OCIRUN_TRY_ASSIGN(const std::optional<NamedUser> user, read_user(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, arguments.operands().front()));
  OCIRUN_TRY_ASSIGN(const ContainerRecord container,
                    choose_running_container(view.record, arguments.value("container"),
                                             "no program can be executed in it"));
  if (::geteuid() != 0) OCIRUN_TRY(become_root_of_namespace_of(view.record));
  std::vector<std::string> words = view.record.runtime;
  words.emplace_back("exec");
  if (options_suffice(arguments, program)) {
    if (program.has_terminal) words.emplace_back("--tty");
    words.push_back(container.id);
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  } else {
    OCIRUN_TRY_ASSIGN(ExecProcess process, pattern_of(pods, view, container));
    if (program.has_terminal) set_terminal_name(program, process);
    if (user) {
      OCIRUN_TRY_ASSIGN(const ContainerRoot root, open_container_root(view.record, container));
      OCIRUN_TRY(within(process.set_user(root.directory, user->user, user->group,
                                         powers_here(false, false).set_groups),
                        "--user"));
    }
    OCIRUN_TRY_ASSIGN(const std::string text, process.text_for(program));
    OCIRUN_TRY_ASSIGN(const std::string path, path_of_text(text));
    words.insert(words.end(), {"--process", path, container.id});
  }
  linux::reset_signals();
  const linux::ExecArguments command(words, {});
  ::execve(command.argv()[0], command.argv(), environ);
  return fail(errno, "execute {}", words.front());
}

}  // namespace

const Command kExec{{"exec",
                     "POD PROGRAM [ARGUMENT...]",
                     "execute a program in a container of a pod",
                     kExecOptions,
                     {2, kAnyNumber},
                     {kOnePod},
                     OptionPlacement::kUntilOperand},
                    exec};

}  // namespace ocirun::pods::cli
