#include "criu/compare/files.hpp"

#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/linux/mounts/scene.hpp"

// The container of these tests is a `sleep` in a mount namespace of its own, a copy of the host's.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

class Container {
 public:
  /// `prepare` runs in the process, after it has got its namespace, and before it executes
  /// `command`.
  template <typename Prepare>
  Container(const char* command, Prepare prepare) {
    int ready[2];
    BOOST_TEST_REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::unshare(CLONE_NEWNS) == 0) {
        prepare();
        ::execl("/bin/sh", "sh", "-c", command, nullptr);
      }
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    ignore(::read(ready[0], &byte, 1));  // the end: it has executed the shell
    ::close(ready[0]);
    while (image() != "sleep\n" && ::waitpid(pid_, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // As criu stops it: a program that begins still changes its mappings.
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  explicit Container(const char* command = "exec sleep 1000") : Container(command, [] {}) {}
  ~Container() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  std::string image() const { return Scene::read(fmt::format("/proc/{}/comm", pid_)); }
  /// The error; "" for none.
  std::string refusal(unsigned capability = CAP_CHOWN) const {
    bundle::Config config;
    config.process.emplace().capabilities.emplace().bounding.add(capability);
    const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    const int pids[] = {pid_};
    const Fd streams[] = {Fd{0}, Fd{1}, Fd{2}};
    const auto compared = compare_files(
        {.config = config, .procfs = procfs, .streams = streams, .pids = pids, .namespaces = pids});
    return compared ? "" : compared.error().message();
  }

 private:
  int pid_ = 0;
};

// Descriptor 7 of the process.
void make_seven(int made) {
  ::dup2(made, 7);
  if (made != 7) ::close(made);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_open_files)

OCIRUN_CHILD_TEST(what_lies_in_the_container_may_be_open, CLONE_NEWNS) {
  const Container container("exec 7</etc/passwd 8<>/dev/null; cd /usr; exec sleep 1000");
  BOOST_TEST(container.refusal() == "");
}

OCIRUN_CHILD_TEST(a_file_that_was_opened_outside_of_the_container_is_found, CLONE_NEWNS) {
  const int outside = ::open("/etc/passwd", O_RDONLY);
  {
    const Container container("exec sleep 1000", [&] { make_seven(outside); });
    check_text(container.refusal(), "descriptor 7: /etc/passwd lies outside of the container");
  }
  ::close(outside);
}

OCIRUN_CHILD_TEST(a_working_directory_outside_of_the_container_is_found, CLONE_NEWNS) {
  const int outside = ::open("/usr", O_PATH | O_CLOEXEC);
  {
    const Container container("exec sleep 1000", [&] { ignore(::fchdir(outside)); });
    check_text(container.refusal(), "cwd: /usr lies outside of the container");
  }
  ::close(outside);
}

OCIRUN_CHILD_TEST(a_socket_that_a_capability_opens_needs_the_capability,
                  CLONE_NEWNS | CLONE_NEWNET) {
  const Container packet("exec sleep 1000", [] { make_seven(::socket(AF_PACKET, SOCK_DGRAM, 0)); });
  check_text(packet.refusal(), "descriptor 7: is a raw or packet socket");
  BOOST_TEST(packet.refusal(CAP_NET_RAW) == "");
  const Container raw("exec sleep 1000",
                      [] { make_seven(::socket(AF_INET, SOCK_RAW, IPPROTO_UDP)); });
  check_text(raw.refusal(), "without CAP_NET_RAW cannot open");
  const Container marked("exec sleep 1000", [] {
    make_seven(::socket(AF_INET, SOCK_DGRAM, 0));
    const int mark = 5;
    ::setsockopt(7, SOL_SOCKET, SO_MARK, &mark, sizeof mark);
  });
  check_text(marked.refusal(), "is a socket with a mark");
  BOOST_TEST(marked.refusal(CAP_NET_ADMIN) == "");
  const Container plain("exec sleep 1000", [] { make_seven(::socket(AF_INET, SOCK_STREAM, 0)); });
  BOOST_TEST(plain.refusal() == "");
}

BOOST_AUTO_TEST_SUITE_END()
