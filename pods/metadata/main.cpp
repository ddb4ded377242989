// ocirun-metadata: the App Container metadata service of one pod. The only program that loads
// libmicrohttpd. Command line: ocirun-metadata PLACE, where PLACE is a directory on which the
// program mounts its empty root in its own mount namespace. Descriptors: 0 the content
// (content.hpp), 1 the null device, 2 a pipe that only the supervisor of the pod reads: for an
// error, closed when requests are answered, 3 the socket that listens. Ends with the supervisor.
//
// Clients are hostile: the process drops capabilities, root's ids, files and descriptors before it
// reads a byte from them. It has namespaces of its own, in which it sees no other process and no
// network but its connections, and no container can trace it or find its executable.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/confined/confine.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/metadata/server.hpp"

namespace ocirun::pods {
namespace {

constexpr int kSocket = 3;

bool listens(int socket) {
  int answer = 0;
  socklen_t size = sizeof answer;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer != 0;
}

Result<void> limit_resources() {
  constexpr std::uint64_t kDescriptors = ServerLimits::kConnections + 16;
  OCIRUN_TRY(linux::set_rlimit(0, {.resource = RLIMIT_FSIZE, .soft = 0, .hard = 0}));
  return linux::set_rlimit(0,
                           {.resource = RLIMIT_NOFILE, .soft = kDescriptors, .hard = kDescriptors});
}

Result<void> run(std::span<const std::string> words) {
  if (words.size() != 1 || !listens(kSocket))
    return refuse("ocirun-metadata is a part of ocirun and not for use by hand");
  ::prctl(PR_SET_DUMPABLE, 0);  // the memory has the pod's secrets
  ::signal(SIGPIPE, SIG_IGN);
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::sys::read_all(Fd{STDIN_FILENO}, kMostContentBytes));
  OCIRUN_TRY_ASSIGN(Content content, parse_content(text));
  const std::uint64_t size = linux::own_memory();
  OCIRUN_TRY(within(linux::enter_empty_root(words[0]), "an empty root"));
  OCIRUN_TRY(limit_resources());
  constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
  OCIRUN_TRY(within(linux::confine_process({}, size + kMostMemory, Fd{STDERR_FILENO}),
                    "give up privileges"));
  ::dup2(STDOUT_FILENO, STDIN_FILENO);
  const Answers answers(std::move(content));
  return serve(Fd{kSocket}, answers, []() -> Result<void> {
    OCIRUN_TRY(allow_service_calls());
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    return {};
  });
}

}  // namespace
}  // namespace ocirun::pods

int main(int argc, char** argv) {
  using namespace ocirun;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto failed = pods::run(words);
  ignore(linux::write_all(Fd{STDERR_FILENO}, linux::error_lines(failed.error())));
  return 1;
}
