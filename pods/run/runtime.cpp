#include "pods/run/runtime.hpp"

#include <sys/wait.h>

#include "pods/run/pid_file.hpp"

namespace ocirun::pods {

std::vector<std::string> Runtime::words(std::vector<std::string> command) const {
  command.insert(command.begin(), command_.begin(), command_.end());
  return command;
}

Result<void> Runtime::run(std::vector<std::string> command) const {
  const std::string what = fmt::format("{} {}", command_.front(), command.front());
  return within(run_program(words(std::move(command))), what);
}

Result<int> Runtime::create(const std::string& id, const std::string& bundle,
                            const Streams& streams) const {
  const std::string pid_file = bundle + "/pid";
  TRY_ASSIGN(
      linux::Child child,
      start_program(words({"create", "--bundle", bundle, "--pid-file", pid_file, id}), streams));
  TRY_ASSIGN(const int status, within(end_of(child), command_.front() + " create"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return read_pid_file(pid_file);
  return refuse("{} create {}", command_.front(), linux::describe_end(status));
}

Result<void> Runtime::start(const std::string& id) const { return run({"start", id}); }

Result<void> Runtime::kill(const std::string& id, int signal) const {
  return run({"kill", id, fmt::format("{}", signal)});
}

Result<void> Runtime::remove(const std::string& id) const {
  auto removed = run({"delete", "--force", id});
  // Some runtimes fail if there is nothing to remove.
  if (!removed && !has(id)) return {};
  return removed;
}

bool Runtime::has(const std::string& id) const { return run({"state", id}).has_value(); }

std::vector<std::string> Runtime::exec_command(const std::string& id, const std::string& pid_file,
                                               const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = words({"exec", "--pid-file", pid_file, id});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace ocirun::pods
