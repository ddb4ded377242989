#include "runtime/init/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include "linux/base/message_socket.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// Turns the caller into `process`, without the steps before restrict(). Returns only on failure.
int become(const bundle::Process& process, const Inheritance& inheritance) {
  const bundle::Config config;
  ContainerProcess mine(config, &process, Entrance::kInit, inheritance, std::nullopt);
  auto ends = must(linux::MessageSocket::make_pair());
  if (!mine.restrict(ends.second)) return 90;
  return mine.execute() ? 0 : 91;
}

/// Runs the shell script `text` in a child with the descriptors `numbers` open and not
/// close-on-exec. Returns the exit status.
int status_with(std::initializer_list<int> numbers, const Inheritance& inheritance,
                const std::string& text) {
  bundle::Process process;
  process.cwd = "/";
  process.args = {"/bin/sh", "-c", text};
  const pid_t pid = ::fork();
  if (pid == 0) {
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    // restrict() changes the owner of the standard streams: not the owner of the test's own ones.
    for (const int number : {0, 1, 2}) ::dup2(null.get(), number);
    for (const int number : numbers) ::dup2(null.get(), number);
    ::_exit(become(process, inheritance));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string open_in_shell(int number) {
  return "[ -e /proc/$$/fd/" + std::to_string(number) + " ]";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(container_process)

// Init closes inherited descriptors when it begins. A library or the kernel may open others later.
OCIRUN_CHILD_TEST(a_descriptor_that_nobody_named_does_not_reach_the_program, 0) {
  for (const int number : {50, 700}) {
    BOOST_TEST(status_with({number}, {}, "! " + open_in_shell(number)) == 0);
    // Proves that the descriptor was open: as a preserved descriptor it reaches the program.
    const Inheritance all{.preserved_descriptors = number - 2};
    BOOST_TEST(status_with({number}, all, open_in_shell(number)) == 0);
  }
}

OCIRUN_CHILD_TEST(the_program_has_the_preserved_descriptors_and_not_the_next_one, 0) {
  const Inheritance inheritance{.listening_sockets = 40, .preserved_descriptors = 8};
  BOOST_TEST(status_with({50, 51}, inheritance, open_in_shell(50) + " && ! " + open_in_shell(51)) ==
             0);
}

BOOST_AUTO_TEST_SUITE_END()
