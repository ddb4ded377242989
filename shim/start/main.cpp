// containerd-shim-ocirun-v2: containerd's shim of runtime version 2 for ocirun. containerd executes
// it as `containerd-shim-ocirun-v2 FLAG… start` in the bundle of a new container, and as `… delete`
// after the container's end. `start` forks the server, which containerd talks to by ttrpc.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/mounts/devices.hpp"
#include "shim/start/arguments.hpp"
#include "shim/start/delete.hpp"
#include "shim/start/information.hpp"
#include "shim/start/start.hpp"

namespace ocirun::shim {
namespace {

/// Opens the null device for each standard stream that is closed: a file that is opened later must
/// not become a standard stream.
Result<void> fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) {
      OCIRUN_TRY_ASSIGN(UniqueFd null, linux::open_verified_null());
      ignore(null.release());  // has the number `stream`, the lowest that is free
    }
  return {};
}

Result<void> run(const std::vector<std::string>& words) {
  OCIRUN_TRY(fill_standard_streams());
  OCIRUN_TRY_ASSIGN(const Arguments arguments, parse_arguments(words));
  switch (arguments.action) {
    case Action::kStart:
      return start(arguments);
    case Action::kDelete:
      return delete_container(arguments);
    case Action::kInformation:
      return print_information();
    case Action::kVersion:
      return linux::write_all(Fd{STDOUT_FILENO}, version_text());
    case Action::kHelp:
      return linux::write_all(Fd{STDOUT_FILENO}, help_text());
  }
  return {};
}

}  // namespace
}  // namespace ocirun::shim

int main(int argc, char** argv) {
  using namespace ocirun;
  ::signal(SIGPIPE, SIG_IGN);  // the reader of the answer may be gone; write(2) says so
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto done = linux::within_memory([&] { return shim::run(words); });
  if (done) return 0;
  ignore(linux::write_all(Fd{STDERR_FILENO},
                          fmt::format("containerd-shim-ocirun-v2: {}\n", done.error().message())));
  return 1;
}
