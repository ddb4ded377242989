#include "shim/start/delete.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"
#include "shim/messages/message.hpp"
#include "shim/options/runtime_record.hpp"
#include "shim/tasks/rootfs.hpp"

namespace ocirun::shim {
namespace {

constexpr std::chrono::seconds kRuntimePatience{4};
constexpr std::chrono::milliseconds kPatienceWithTheKilled{500};
constexpr std::uint32_t kKilled = 128 + SIGKILL;

/// Like run_program(), which would wait longer.
Result<void> run_briefly(std::span<const std::string> arguments) {
  const auto deadline = std::chrono::steady_clock::now() + kRuntimePatience;
  OCIRUN_TRY_ASSIGN(linux::Pipe errors, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child child,
                    linux::start_program(arguments, {.out = Fd{-1}, .err = errors.writer}));
  errors.writer.reset();
  const std::string text = linux::read_text(errors.reader, deadline);
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  const auto status = linux::collect_child(child, std::max(left, std::chrono::milliseconds(0)));
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  if (status)
    return refuse("{} {}{}{}", arguments.front(), linux::describe_end(status),
                  text.empty() ? "" : ": ", text);
  ::kill(child.pid, SIGKILL);
  linux::collect_child(child, kPatienceWithTheKilled);
  return refuse("{} did not end within {} s, and was killed", arguments.front(),
                kRuntimePatience.count());
}

Result<void> delete_by_runtime(Fd bundle, const Arguments& arguments) {
  OCIRUN_TRY_ASSIGN(const RuntimeRecord record,
                    read_runtime_record(bundle, arguments.container_namespace));
  const std::array<std::string, 6> words{record.runtime, "--root",  record.root,
                                         "delete",       "--force", arguments.id};
  return run_briefly(words);
}

/// The message for containerd; the end is now.
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
  return linux::write_all(Fd{STDOUT_FILENO}, response);
}

}  // namespace ocirun::shim
