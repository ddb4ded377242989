#include "shim/start/start.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"
#include "shim/start/address.hpp"
#include "shim/start/answer.hpp"
#include "shim/start/socket.hpp"
#include "shim/start/surroundings.hpp"

namespace ocirun::shim {
namespace {

/// The fifo of the bundle whose lines containerd logs. -1 if containerd does not read it.
UniqueFd open_log(Fd bundle) {
  auto log = linux::sys::openat(bundle, "log", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  return log ? *std::move(log) : UniqueFd();
}

/// Cuts the server off from the process that has started it. Leaves open only the null device, and
/// what the server was given.
void leave_starter(const Setup& setup, const Log& log, Fd null, Fd starter) {
  ::setsid();
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::dup2(null.value, stream) < 0) ::_exit(1);  // containerd waits for the ends of the streams
  std::vector<Fd> kept{setup.socket, starter};
  if (log.fd().value >= 0) kept.push_back(log.fd());
  linux::close_descriptors_but(kept);
  ignore(linux::sys::chdir("/"));  // the bundle may be removed while other containers live
  ::unsetenv("NOTIFY_SOCKET");     // containerd's own; a runtime would hand it to the container
  ::signal(SIGPIPE, SIG_IGN);      // containerd may leave while the server writes
}

constexpr std::uint8_t kGo = 1;  // the only message between `start` and the server

/// Waits for a message. Returns false if the other end of the channel is closed.
bool receive_go(const linux::MessageSocket& channel) {
  const auto packet = channel.receive();
  return packet && !packet->end_of_stream;
}

/// Becomes the listener of the socket, and waits until the starting process has given containerd
/// the address. Errors: the starting process has ended before, so that containerd knows no server.
Result<void> begin(Fd socket, const linux::MessageSocket& starter) {
  OCIRUN_TRY(listen_as_server(socket));
  OCIRUN_TRY(starter.send(kGo));
  if (!receive_go(starter)) return refuse("`start` has ended before its answer");
  return {};
}

/// The whole life of a server.
[[noreturn]] void live(Setup setup, const Log& log, ServerWork work, Fd null,
                       linux::MessageSocket starter) {
  leave_starter(setup, log, null, starter.fd());
  const std::string path = setup.socket_path;
  Result<void> served = begin(setup.socket, starter);
  starter.close();
  if (served)
    served = linux::within_memory([&] { return work(std::move(setup), log); });
  else
    setup.socket.reset();
  ignore(remove_dead_socket(path));
  if (!served) log.error(served.error().message());
  ::_exit(served ? 0 : 1);
}

/// A server that was forked. It sends a message when it listens, and begins when it gets one. It
/// ends if the channel is closed before.
struct Server {
  int pid = 0;
  linux::MessageSocket channel;
};

Result<Server> fork_server(Setup setup, const Log& log, ServerWork work) {
  OCIRUN_TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  auto& [ours, theirs] = ends;
  const int pid = ::fork();
  if (pid < 0) return fail(errno, "fork the server");
  if (pid == 0) {
    ours.close();
    live(std::move(setup), log, work, null, std::move(theirs));
  }
  return Server{pid, std::move(ours)};
}

Result<void> print_answer(const StartInput& input, const std::string& path) {
  return within(linux::write_all(Fd{STDOUT_FILENO}, answer_text(input.answer, path)),
                "print the address");
}

/// Starts the server that `setup` is for. Its socket listens before the fork, so that containerd
/// can connect as soon as it has the answer.
Result<void> start_server(const StartInput& input, Setup setup, const Log& log, ServerWork work) {
  const std::string path = setup.socket_path;
  // The server inherits the score, the cgroup and the core scheduling cookie.
  OCIRUN_TRY(raise_oom_score());
  OCIRUN_TRY(join_shim_cgroup(input.options.shim_cgroup));
  OCIRUN_TRY(separate_cores());
  OCIRUN_TRY_ASSIGN(Server server, fork_server(std::move(setup), log, work));
  auto answered = [&]() -> Result<void> {
    if (!receive_go(server.channel)) return refuse("the server has ended at once");
    OCIRUN_TRY(print_answer(input, path));
    return server.channel.send(kGo);
  }();
  if (answered) return {};
  server.channel.close();  // ends the server
  ::waitpid(server.pid, nullptr, 0);
  return answered;
}

/// The path of the socket of the server for the container of `bundle`.
Result<std::string> choose_path(Fd bundle, const Arguments& arguments, const StartInput& input) {
  OCIRUN_TRY_ASSIGN(const std::string group, read_group(bundle, arguments.id));
  const std::string_view directory = input.socket_directory;
  return socket_path(directory.empty() ? kSocketDirectory : directory, input.address,
                     arguments.container_namespace, group);
}

}  // namespace

Result<void> start(const Arguments& arguments, ServerWork work) {
  OCIRUN_TRY_ASSIGN(const std::string bytes,
                    within(linux::sys::read_all(Fd{STDIN_FILENO}, kMostInput), "standard input"));
  OCIRUN_TRY_ASSIGN(const StartInput input,
                    parse_start_input(bytes, arguments, read_start_environment()));
  OCIRUN_TRY_ASSIGN(const UniqueFd bundle, linux::sys::open(".", O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const std::string path, choose_path(bundle, arguments, input));
  // `delete` finds the socket by this file, also if this process is killed now.
  OCIRUN_TRY(linux::replace_file(bundle, "address", address_text(path), 0600));
  OCIRUN_TRY_ASSIGN(UniqueFd socket, listen_or_find(path));
  if (!socket) return print_answer(input, path);
  auto started = start_server(input,
                              {.socket = std::move(socket),
                               .socket_path = path,
                               .container_namespace = arguments.container_namespace,
                               .id = arguments.id,
                               .events_address = input.events_address},
                              Log(open_log(bundle), input.debug), work);
  if (!started) ignore(remove_dead_socket(path));
  return started;
}

}  // namespace ocirun::shim
