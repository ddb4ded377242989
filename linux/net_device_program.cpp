#include "linux/net_device_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "linux/clone.hpp"
#include "linux/exec.hpp"
#include "linux/own_program.hpp"
#include "linux/pipe.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr char kName[] = "ocirun-netdevice";
constexpr std::size_t kMaxAnswer = 64 * 1024;

[[noreturn]] void become_program(const std::string& path, const ExecArguments& arguments, Fd output,
                                 Fd network_namespace) {
  reset_signals();
  if (::dup2(output.value, STDOUT_FILENO) >= 0 &&
      ::dup2(network_namespace.value, kNetworkNamespaceDescriptor) >= 0) {
    ::fcntl(kNetworkNamespaceDescriptor, F_SETFD, 0);
    close_descriptors_from(kNetworkNamespaceDescriptor + 1);
    ::execve(path.c_str(), arguments.argv(), arguments.envp());
  }
  ::_exit(127);
}

Result<std::string> run_program(std::string_view verb, std::string_view device,
                                std::string_view name, Fd network_namespace) {
  TRY_ASSIGN(const std::string path, find_own_program(kName));
  const ExecArguments arguments({path, std::string(verb), std::string(device), std::string(name)},
                                {});
  TRY_ASSIGN(Pipe ends, make_pipe());
  TRY_ASSIGN(const Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) become_program(path, arguments, ends.writer, network_namespace);
  ends.writer.reset();
  auto answer = sys::read_all(ends.reader, kMaxAnswer);
  TRY_ASSIGN(const int status, wait_for_child(child.pid));
  TRY(answer);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return answer;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    return std::unexpected(parse_error_lines(*answer, "move a network device"));
  return refuse("{} ended with wait status {}", path, status);
}

}  // namespace

Result<std::string> request_device_move(const NetDevice& device, Fd target) {
  return run_program(kMoveVerb, device.host_name, device.container_name, target);
}

Result<void> request_device_return(std::string_view name, std::string_view host_name, Fd source) {
  TRY(run_program(kReturnVerb, name, host_name, source));
  return {};
}

}  // namespace ocirun::linux
