#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/commands/processes.hpp"
#include "runtime/init/executable.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {
namespace {

Result<std::string> output_of_ps(std::vector<std::string> words) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    environment.emplace_back(*entry);
  TRY_ASSIGN(const std::string path, find_executable("ps", environment));
  words.insert(words.begin(), "ps");
  const linux::ExecArguments arguments(words, environment);
  TRY_ASSIGN(linux::Pipe ends, linux::make_pipe());
  TRY_ASSIGN(const linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::dup2(ends.writer.get(), STDOUT_FILENO);
    ::execve(path.c_str(), arguments.argv(), arguments.envp());
    ::_exit(127);
  }
  ends.writer.reset();
  std::string output;
  std::array<char, 8192> buffer;
  for (ssize_t count = 0; (count = ::read(ends.reader.get(), buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(count));
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return refuse(
        "ps {}: its own message says why; ps(1) has the options that may follow the container's id",
        linux::describe_end(status));
  return output;
}

// The header and the lines whose PID column names one of `pids`.
Result<std::string> filter_lines(std::string_view output, const std::vector<int>& pids) {
  const std::string_view header = linux::cut(output, '\n');
  const auto titles = linux::words(header);
  const auto column = std::ranges::find(titles, "PID");
  if (column == titles.end())
    return refuse("ps printed no PID column; its arguments must ask for one");
  const auto index = static_cast<std::size_t>(column - titles.begin());
  std::string text = std::string(header) + "\n";
  while (!output.empty()) {
    const std::string_view line = linux::cut(output, '\n');
    const auto words = linux::words(line);
    const auto pid = index < words.size() ? linux::number<int>(words[index]) : std::nullopt;
    if (pid && std::ranges::find(pids, *pid) != pids.end()) text += std::string(line) + "\n";
  }
  return text;
}

}  // namespace

Result<int> run_ps(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::string format = arguments.value("format").value_or("table");
  if (format != "table" && format != "json")
    return refuse("--format {}: must be table or json", format);
  TRY_ASSIGN(const ContainerId id, arguments.id());
  TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  TRY_ASSIGN(const auto cgroup, container.cgroup());
  auto pids = cgroup->pids();
  if (!pids && container.status() == Status::kStopped) pids = std::vector<int>{};
  if (container.record().cgroup_manager == CgroupManager::kDisabled &&
      container.status() != Status::kStopped) {
    TRY_ASSIGN(const auto found,
               find_processes(container.init().pid, container.record().own_pid_namespace));
    pids.emplace();
    std::ranges::transform(found, std::back_inserter(*pids), &linux::ProcessIdentity::pid);
  }
  TRY(pids);
  if (format == "json") {
    TRY(print(bundle::pids_text(*pids)));
    return 0;
  }
  std::vector<std::string> words(arguments.positionals.begin() + 1, arguments.positionals.end());
  if (words.empty()) words = {"-ef"};
  TRY_ASSIGN(const std::string output, output_of_ps(std::move(words)));
  TRY_ASSIGN(const std::string lines, filter_lines(output, *pids));
  TRY(print(lines));
  return 0;
}

}  // namespace ocirun::runtime::cli
