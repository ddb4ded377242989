#include "pods/run/runtime.hpp"

#include <sys/wait.h>

#include "pods/surroundings/pid_file.hpp"

namespace ocirun::pods {
namespace {

std::string pid_file_of(const std::string& bundle) { return bundle + "/pid"; }

}  // namespace

std::vector<std::string> Runtime::words(std::vector<std::string> command) const {
  command.insert(command.begin(), command_.begin(), command_.end());
  return command;
}

Result<Runtime::Call> Runtime::begin(std::vector<std::string> command) const {
  std::string what = fmt::format("{} {}", command_.front(), command.front());
  TRY_ASSIGN(RunningProgram program, within(begin_program(words(std::move(command))), what));
  return Call{.program = std::move(program), .what = std::move(what)};
}

Result<void> Runtime::end(Call& call) { return within(end_program(call.program), call.what); }

Result<void> Runtime::run(std::vector<std::string> command) const {
  TRY_ASSIGN(Call call, begin(std::move(command)));
  return end(call);
}

Result<Runtime::Call> Runtime::begin_start(const std::string& id) const {
  return begin({"start", id});
}

Result<Runtime::Call> Runtime::begin_state(const std::string& id) const {
  return begin({"state", id});
}

Result<linux::Child> Runtime::begin_create(const std::string& id, const std::string& bundle,
                                           const Streams& streams) const {
  return start_program(words({"create", "--bundle", bundle, "--pid-file", pid_file_of(bundle), id}),
                       streams);
}

Result<int> Runtime::end_create(linux::Child& call, const std::string& bundle) const {
  TRY_ASSIGN(const int status, within(end_of(call), command_.front() + " create"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return read_pid_file(pid_file_of(bundle));
  return refuse("{} create {}", command_.front(), linux::describe_end(status));
}

Result<void> Runtime::kill(const std::string& id, int signal) const {
  return run({"kill", id, fmt::format("{}", signal)});
}

Result<void> Runtime::remove(const std::string& id) const {
  auto removed = run({"delete", "--force", id});
  // Some runtimes fail if there is nothing to remove.
  if (!removed && !run({"state", id})) return {};
  return removed;
}

std::vector<std::string> Runtime::exec_command(const std::string& id, const std::string& pid_file,
                                               const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = words({"exec", "--pid-file", pid_file, id});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace ocirun::pods
