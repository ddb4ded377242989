#include "linux/network/device_program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::linux {
namespace {

constexpr char kName[] = "ocirun-netdevice";
constexpr std::size_t kMaxAnswer = 64 * 1024;
constexpr int kBeyondOurs = 10;  // above the descriptors that the program is given

struct Given {
  Fd output, network_namespace, journal;
};

// Duplicates the descriptor above the numbers that dup2(2) fills afterwards.
int copy_beyond(Fd descriptor) { return ::fcntl(descriptor.value, F_DUPFD_CLOEXEC, kBeyondOurs); }

[[noreturn]] void become_program(const std::string& path, const ExecArguments& arguments,
                                 const Given& given) {
  // The kernel kills the program when its parent dies, so that the program moves no devices while
  // `delete --force` brings them back. If the parent died before this call, the program notices
  // that nobody reads its output.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  reset_signals();
  const int output = copy_beyond(given.output);
  const int network_namespace = copy_beyond(given.network_namespace);
  const int journal = copy_beyond(given.journal);
  ::close(kNetworkNamespaceDescriptor);
  const bool has_namespace = given.network_namespace.value >= 0;
  if (::dup2(output, STDOUT_FILENO) >= 0 &&
      (!has_namespace || ::dup2(network_namespace, kNetworkNamespaceDescriptor) >= 0) &&
      ::dup2(journal, kJournalDescriptor) >= 0) {
    close_descriptors_from(kJournalDescriptor + 1);
    ::execve(path.c_str(), arguments.argv(), arguments.envp());
  }
  ::_exit(127);
}

Result<std::string> run_program(std::vector<std::string> words, Fd network_namespace,
                                UniqueFd journal, const Interrupt& interrupt) {
  OCIRUN_TRY_ASSIGN(const std::string path, find_own_program(kName));
  words.insert(words.begin(), path);
  const ExecArguments arguments(std::move(words), {});
  OCIRUN_TRY_ASSIGN(Pipe ends, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) become_program(path, arguments, {ends.writer, network_namespace, journal});
  ends.writer.reset();
  journal.reset();
  OCIRUN_TRY_ASSIGN(const ProgramEnd end,
                    await_program(std::move(child), ends.reader, kMaxAnswer, path, interrupt));
  std::string answer =
      end.output.substr(std::min(end.output.find_first_not_of(kSignOfLife), end.output.size()));
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0) return answer;
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1)
    return std::unexpected(parse_error_lines(answer, "move a network device"));
  return refuse("{} {}", path, describe_end(end.status));
}

}  // namespace

Result<std::string> request_device_move(const NetDevice& device, Fd target, UniqueFd journal,
                                        const Interrupt& interrupt) {
  return run_program({std::string(kMoveVerb), device.host_name, device.container_name}, target,
                     std::move(journal), interrupt);
}

Result<std::vector<std::string>> request_device_return(Fd source, UniqueFd journal) {
  OCIRUN_TRY_ASSIGN(const std::string answer,
                    run_program({std::string(kReturnVerb)}, source, std::move(journal), {}));
  std::vector<std::string> gone;
  for (const std::string_view name : words(answer, '\n')) gone.emplace_back(name);
  return gone;
}

}  // namespace ocirun::linux
