#include "shim/start/delete.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <ctime>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/unix_address.hpp"
#include "linux/programs/program.hpp"
#include "shim/loop/loop.hpp"
#include "shim/messages/message.hpp"
#include "shim/options/runtime_record.hpp"
#include "shim/start/socket.hpp"
#include "shim/tasks/rootfs.hpp"
#include "shim/ttrpc/client.hpp"

namespace ocirun::shim {
namespace {

// containerd waits five seconds for `delete`.
constexpr std::chrono::seconds kRuntimePatience{4}, kServerPatience{1};
constexpr std::uint32_t kKilled = 128 + SIGKILL;

Result<void> delete_by_runtime(Fd bundle, const Arguments& arguments) {
  OCIRUN_TRY_ASSIGN(const RuntimeRecord record,
                    read_runtime_record(bundle, arguments.container_namespace));
  const std::array<std::string, 6> words{record.runtime, "--root",  record.root,
                                         "delete",       "--force", arguments.id};
  return within(linux::run_program(words, kRuntimePatience), record.runtime);
}

/// Ends the server of the socket if it has no task: `start` may have been killed before containerd
/// knew the server. The server ignores the request if it waits for the first task of another id.
void end_idle_server(const std::string& path, const std::string& id) {
  auto loop = Loop::make();
  if (!loop) return;
  ttrpc::Client client(*loop, path, kServerPatience);
  auto request = new_message<Shim__ShutdownRequest>();
  request.id = in_message(id);
  go([](Loop& working, ttrpc::Client& asking, std::string payload) -> Async<> {
    std::string service = "containerd.task.v2.Task", method = "Shutdown";
    ignore(co_await asking.call(std::move(service), std::move(method), std::move(payload)));
    working.stop();
  }(*loop, client, bytes_of(request)));
  ignore(loop->run());
}

/// Removes the socket of a server that has ended, and the server's scratch files. The path of the
/// socket is in the file `address` of the bundle.
Result<void> remove_socket(Fd bundle, const std::string& id) {
  constexpr std::size_t kMostAddress = 4096;
  OCIRUN_TRY_ASSIGN(const std::string address,
                    linux::read_file(bundle, "address", kMostAddress, O_NOFOLLOW));
  const std::string path(linux::without_unix_scheme(address));
  if (!path.starts_with('/')) return refuse("{} is no path", path);
  end_idle_server(path, id);
  return remove_dead_socket(path);
}

/// The DeleteResponse for containerd, which gets the present time as the time of the end.
std::string delete_response(const std::string& bundle) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  Shim__Timestamp time = timestamp_of(now);
  auto response = new_message<Shim__DeleteResponse>();
  response.pid = static_cast<std::uint32_t>(linux::read_pid_file(bundle + "/init.pid").value_or(0));
  response.exit_status = kKilled;
  response.exited_at = &time;
  return bytes_of(response);
}

}  // namespace

Result<void> delete_container(const Arguments& arguments) {
  auto bundle = linux::sys::open(arguments.bundle.c_str(), O_PATH | O_DIRECTORY);
  if (!bundle && !is_missing(bundle)) return std::unexpected(std::move(bundle).error());
  const std::string response = delete_response(arguments.bundle);
  auto deleted = within(delete_by_runtime(bundle ? Fd(*bundle) : Fd(), arguments),
                        "delete the container {}", arguments.id);
  auto unmounted = unmount_rootfs(arguments.bundle + "/rootfs");
  if (!deleted) return deleted;
  OCIRUN_TRY(std::move(unmounted));
  if (bundle) ignore(remove_socket(*bundle, arguments.id));
  return linux::write_all(Fd{STDOUT_FILENO}, response);
}

}  // namespace ocirun::shim
