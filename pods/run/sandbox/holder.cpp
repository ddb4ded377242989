#include "pods/run/sandbox/holder.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/confined/confine.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/executable.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kHoldProgram = "ocirun-hold";
constexpr std::size_t kMostError = 4096;

Result<void> become_holder(Fd program, const Sharing& sharing, const std::string& hostname,
                           const std::string& place, Fd go) {
  ::setsid();
  if (::sethostname(hostname.data(), hostname.size()) != 0) return fail(errno, "set the host name");
  if (sharing.own_network) OCIRUN_TRY(linux::bring_loopback_up());
  linux::reset_signals();
  OCIRUN_TRY_ASSIGN(const UniqueFd nothing, linux::open_verified_null());
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(nothing.get(), number);
  OCIRUN_TRY(within(linux::enter_empty_root(place), "an empty root"));
  OCIRUN_TRY(linux::give_up_privileges());
  // Until its parent has recorded this process, it must not outlive the parent.
  OCIRUN_TRY_ASSIGN(const std::string word, linux::sys::read_all(go, 1));
  if (word.empty()) ::_exit(0);
  linux::close_descriptors_on_exec(STDERR_FILENO + 1);
  const linux::ExecArguments arguments({kHoldProgram}, {});
  ::fexecve(program.value, arguments.argv(), arguments.envp());
  return fail(errno, "execute {}", kHoldProgram);
}

}  // namespace

Result<linux::ProcessIdentity> start_holder(
    const Sharing& sharing, const std::string& hostname, const std::string& place,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record) {
  OCIRUN_TRY_ASSIGN(const std::string path, linux::find_own_program(kHoldProgram));
  OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::open(path.c_str(), O_RDONLY));
  OCIRUN_TRY_ASSIGN(const UniqueFd program, linux::copy_sealed(file));
  std::uint64_t flags = CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
  if (sharing.own_network) flags |= CLONE_NEWNET;
  if (sharing.pids) flags |= CLONE_NEWPID;
  OCIRUN_TRY_ASSIGN(linux::Pipe errors,
                    linux::make_pipe());  // closed by execve(2), or has the error
  OCIRUN_TRY_ASSIGN(linux::Pipe go, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child child,
                    within(linux::clone_process(flags, Fd{-1}, linux::Parentage::kMine),
                           "make the namespaces of the pod"));
  if (child.pid == 0) {
    go.writer.reset();
    const auto failed = become_holder(program, sharing, hostname, place, go.reader);
    ignore(linux::write_all(errors.writer, linux::error_lines(failed.error())));
    ::_exit(1);
  }
  errors.writer.reset();
  go.reader.reset();
  const auto started = [&]() -> Result<linux::ProcessIdentity> {
    OCIRUN_TRY_ASSIGN(const linux::ProcessIdentity holder, linux::identify_process(child.pid));
    OCIRUN_TRY(record(holder));
    // The child may have failed. Its error is read below.
    ignore(linux::sys::write_once(go.writer, "1"));
    go.writer.reset();
    OCIRUN_TRY_ASSIGN(const std::string text, linux::sys::read_all(errors.reader, kMostError));
    if (text.empty()) return holder;
    return std::unexpected(linux::parse_error_lines(text, "make the namespaces of the pod"));
  }();
  if (!started) linux::kill_child(child);
  return started;
}

SharedNamespaces shared_namespaces(const linux::ProcessIdentity& holder, const Sharing& sharing,
                                   const std::string& network) {
  const auto path = [&](std::string_view type) { return namespace_path(holder.pid, type); };
  return {.network = sharing.own_network ? path("net") : network,
          .ipc = path("ipc"),
          .uts = path("uts"),
          .pid = sharing.pids ? path("pid") : "",
          .host_network = !sharing.own_network && network.empty()};
}

}  // namespace ocirun::pods
