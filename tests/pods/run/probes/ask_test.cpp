// The questions of probes, asked by the real programs to servers in a network namespace of their
// own.

#include "pods/run/probes/ask.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/process/capabilities.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr unsigned long kNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS;

/// A server at 127.0.0.1 that answers every connection with the same bytes. The pid namespace of
/// the test ends it.
class Server {
 public:
  explicit Server(const std::string& answer) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<sockaddr*>(&address);
    test::detail::check(::bind(listener.get(), place, size) == 0 &&
                            ::listen(listener.get(), 8) == 0 &&
                            ::getsockname(listener.get(), place, &size) == 0,
                        "listen");
    port = ntohs(address.sin_port);
    const pid_t pid = ::fork();
    test::detail::check(pid >= 0, "fork");
    if (pid == 0) serve(listener, answer);
  }
  std::uint16_t port = 0;

 private:
  [[noreturn]] static void serve(Fd listener, const std::string& answer) {
    for (;;) {
      const UniqueFd caller(::accept4(listener.value, nullptr, nullptr, SOCK_CLOEXEC));
      std::string request(4096, '\0');
      if (answer.empty() || ::read(caller.get(), request.data(), request.size()) <= 0) continue;
      std::string text = answer;
      if (const std::size_t at = text.find("REQUEST"); at != std::string::npos)
        text.replace(at, 7,
                     request.contains("X-Asked: yes") && request.starts_with("GET /health ")
                         ? "204 As Wanted"
                         : "400 Bad Request");
      if (::write(caller.get(), text.data(), text.size()) < 0) ::_exit(1);
    }
  }
};

void bring_network_up() {
  must(linux::bring_loopback_up());
  // LeakSanitizer in ocirun-probe looks for its process there.
  must(linux::sys::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  must(linux::sys::mount("proc", "/proc", "proc", 0, nullptr));
}

Answer answer_of(const Probe& probe, Fd network = {}, std::span<const std::string> command = {}) {
  Asked asked = must(ask(probe, network, command));
  siginfo_t end{};
  test::detail::check(
      ::waitid(P_PID, static_cast<id_t>(asked.child.pid), &end, WEXITED | WNOWAIT) == 0, "waitid");
  return take_answer(asked);
}
Probe http(std::uint16_t port, const std::string& path = "/") {
  Probe probe;
  probe.question = HttpProbe{.path = path,
                             .port = port,
                             .port_name = "",
                             .tls = false,
                             .headers = {{.name = "X-Asked", .value = "yes"}}};
  return probe;
}
Probe tcp(std::uint16_t port) {
  Probe probe;
  probe.question = TcpProbe{.port = port, .port_name = ""};
  return probe;
}
Answer http_status(const std::string& status) {
  const Server server("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\nok");
  return answer_of(http(server.port));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probes_ask)

OCIRUN_CHILD_TEST(an_http_status_from_200_to_399_is_a_success, kNamespaces) {
  bring_network_up();
  for (const char* status :
       {"200 OK", "204 No Content", "302 Found\r\nLocation: http://192.0.2.1/"}) {
    const Answer answer = http_status(status);
    BOOST_TEST(answer.is_success, status << ": " << answer.reason);
  }
  const Answer absent = http_status("404 Not Found");
  BOOST_TEST(!absent.is_success);
  BOOST_TEST(absent.reason.contains("status 404, expected 200 to 399"));
  BOOST_TEST(!http_status("503 Service Unavailable").is_success);
}

OCIRUN_CHILD_TEST(path_and_headers_are_those_of_the_probe, kNamespaces) {
  bring_network_up();
  const Server server("HTTP/1.1 REQUEST\r\nContent-Length: 0\r\n\r\n");
  BOOST_TEST(answer_of(http(server.port, "/health")).is_success);
  BOOST_TEST(!answer_of(http(server.port, "/other")).is_success);
}

OCIRUN_CHILD_TEST(a_port_that_nobody_opens_is_a_failure_with_its_reason, kNamespaces) {
  bring_network_up();
  for (const Probe& probe : {http(9), tcp(9)}) {
    const Answer answer = answer_of(probe);
    BOOST_TEST(!answer.is_success);
    BOOST_TEST(answer.reason.contains("9"));
  }
}

OCIRUN_CHILD_TEST(a_port_that_accepts_a_connection_is_a_success, kNamespaces) {
  bring_network_up();
  const Server server("");
  BOOST_TEST(answer_of(tcp(server.port)).is_success);
}

OCIRUN_CHILD_TEST(ports_are_asked_in_the_network_of_the_pod, kNamespaces) {
  const UniqueFd outside(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  test::detail::check(::unshare(CLONE_NEWNET) == 0, "unshare");
  bring_network_up();
  const Server server("");
  const UniqueFd network(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  test::detail::check(::setns(outside.get(), CLONE_NEWNET) == 0, "setns");
  BOOST_TEST(!answer_of(tcp(server.port)).is_success);
  BOOST_TEST(answer_of(tcp(server.port), network).is_success);
}

/// A server that takes connections and never answers.
struct SilentServer {
  SilentServer() : listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<sockaddr*>(&address);
    test::detail::check(::bind(listener.get(), place, size) == 0 &&
                            ::listen(listener.get(), 8) == 0 &&
                            ::getsockname(listener.get(), place, &size) == 0,
                        "listen");
    port = ntohs(address.sin_port);
  }
  UniqueFd listener;
  std::uint16_t port = 0;
};

/// The lines of /proc/PID/status that tell of power, when the process is below its filter.
std::string powers_of(int pid) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  for (int left = kHangSeconds * 100; left > 0 && !slurp(path).contains("Seccomp:\t2"); --left)
    ::usleep(10'000);
  std::string powers;
  const std::string text = slurp(path);
  for (const std::string_view line : linux::words(text, '\n'))
    for (const char* name : {"Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp:"})
      if (line.starts_with(name)) powers += fmt::format("{};", line);
  std::erase_if(powers, [](char c) { return c == ' ' || c == '\t'; });
  return powers;
}

constexpr const char* kNoCapabilities =
    "CapInh:0000000000000000;CapPrm:0000000000000000;CapEff:0000000000000000;"
    "CapBnd:0000000000000000;CapAmb:0000000000000000;NoNewPrivs:1;Seccomp:2;";

OCIRUN_CHILD_TEST(who_asks_a_server_is_nobody_with_nothing_but_a_connection, kNamespaces) {
  bring_network_up();
  ::setenv("SECRET", "of the caller", 1);
  const SilentServer server;
  Asked asked = must(ask(http(server.port), {}, {}));
  const std::string process = fmt::format("/proc/{}", asked.child.pid);
  BOOST_TEST(powers_of(asked.child.pid) ==
             std::string("Uid:65534655346553465534;Gid:65534655346553465534;Groups:;") +
                 kNoCapabilities);
  BOOST_TEST(std::filesystem::is_empty(process + "/root/"));
  BOOST_TEST(slurp(process + "/environ") == "");
  for (const char* name : {"pid", "ipc", "mnt"})
    BOOST_TEST(std::filesystem::read_symlink(process + "/ns/" + name) !=
               std::filesystem::read_symlink(std::string("/proc/self/ns/") + name));
  abandon(asked);
}

OCIRUN_CHILD_TEST(without_the_rights_for_mounts_and_namespaces_the_filter_and_the_user_remain,
                  kNamespaces) {
  bring_network_up();
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21;
  linux::CapabilitySets sets;
  sets.permitted = sets.effective = linux::CapabilitySet::from_bits(
      must(linux::grantable_capabilities({})).permitted.bits() & ~kSysAdmin);
  must(linux::drop_bounding_set(sets.permitted));
  must(linux::set_capabilities(sets));
  const Server answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  BOOST_TEST(answer_of(http(answers.port)).is_success);
  BOOST_TEST(answer_of(tcp(answers.port)).is_success);
  const SilentServer server;
  Asked asked = must(ask(http(server.port), {}, {}));
  BOOST_TEST(powers_of(asked.child.pid) ==
             std::string("Uid:65534655346553465534;Gid:65534655346553465534;Groups:;") +
                 kNoCapabilities);
  abandon(asked);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_command_is_the_answer) {
  Probe probe;
  probe.question = ExecProbe{};
  const auto run = [&](const char* script) {
    const std::vector<std::string> command{"/bin/sh", "-c", script};
    return answer_of(probe, {}, command);
  };
  BOOST_TEST(run("exit 0").is_success);
  BOOST_TEST(run("exit 3").reason == "exited with status 3");
  BOOST_TEST(run("echo not yet >&2; exit 1").reason == "not yet");
  BOOST_TEST(run("kill -KILL $$").reason == "was killed by signal 9 (SIGKILL)");
  BOOST_TEST(run("exec /absent").reason.contains("/absent"));
}

BOOST_AUTO_TEST_CASE(a_command_that_writes_much_goes_on_while_it_is_heard) {
  Probe probe;
  probe.question = ExecProbe{};
  const std::vector<std::string> command{"/bin/sh", "-c", "head -c 1000000 /dev/zero; exit 5"};
  Asked asked = must(ask(probe, {}, command));
  while (asked.output) {
    pollfd watched{asked.output.get(), POLLIN, 0};
    BOOST_REQUIRE(::poll(&watched, 1, kHangSeconds * 1000) == 1);
    hear(asked);
    BOOST_TEST(asked.text.size() <= 256u);
  }
  BOOST_TEST(!take_answer(asked).is_success);
}

BOOST_AUTO_TEST_CASE(a_question_that_is_given_up_leaves_no_process) {
  Probe probe;
  probe.question = ExecProbe{};
  const std::vector<std::string> command{"/bin/sh", "-c", "exec sleep 987"};
  Asked asked = must(ask(probe, {}, command));
  abandon(asked);
  BOOST_TEST(linux::describe_end(must(linux::wait_for_child(asked.child.pid))) ==
             "was killed by signal 9 (SIGKILL)");
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_SUITE_END()
