// `start` as containerd runs it: standard output and error are one pipe, which is read to its end.

#include "shim/start/start.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "shim/options/runtime_options.hpp"
#include "shim/start/start_messages.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

std::string link_of(const std::string& path) {
  return linux::sys::readlinkat(Fd{AT_FDCWD}, path.c_str()).value_or("?");
}

/// Describes the process of the server.
std::string self_portrait(const Setup& setup) {
  std::string text = fmt::format(
      "namespace {} events {} leader {} group {} cwd {} notify {} score {}",
      setup.container_namespace, setup.events_address, ::getsid(0) == ::getpid(),
      ::getpgrp() == ::getpid(), link_of("/proc/self/cwd"),
      std::getenv("NOTIFY_SOCKET") == nullptr ? "unset" : "set", slurp("/proc/self/oom_score_adj"));
  for (int fd = 0; fd < 3; ++fd) text += link_of(fmt::format("/proc/self/fd/{}", fd));
  return text;
}

/// A server that logs one call, and describes itself in the file SOCKET.portrait. It ends when a
/// client sends a word, and fails if the word is "fail". A client that sends nothing has only
/// looked for the server.
Result<void> play_server(Setup setup, const Log& log) {
  log.call("Describe", std::chrono::milliseconds(1), "");
  OCIRUN_TRY(
      linux::replace_file(HostPath(setup.socket_path + ".portrait"), self_portrait(setup), 0600));
  for (;;) {
    pollfd wanted{setup.socket.get(), POLLIN, 0};
    ::poll(&wanted, 1, kHangSeconds * 1000);
    const UniqueFd client(::accept4(setup.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return refuse("nobody came");
    OCIRUN_TRY_ASSIGN(const std::string word, linux::sys::read_all(client, 16));
    if (word == "fail") return refuse("asked to fail");
    if (!word.empty()) return {};
  }
}

struct Outcome {
  int status = -1;
  std::string output;
};

struct StartScene {
  Scratch scratch;
  std::string sockets = scratch / "s";
  std::string id = "web1", space = "k8s.io", grpc = "/run/c.sock", ttrpc = "/run/c.ttrpc";
  int score = std::atoi(slurp("/proc/self/oom_score_adj").c_str());

  StartScene() { scratch.file("config.json", "{}"); }

  /// BootstrapParams, the only ones that name the directory of sockets.
  std::string bootstrap() const {
    auto params = new_message<Shimstart__BootstrapParams>();
    params.instance_id = in_message(id);
    params.namespace_ = in_message(space);
    params.containerd_ttrpc_address = in_message(ttrpc);
    params.containerd_grpc_address = in_message(grpc);
    params.socket_dir = in_message(sockets);
    return bytes_of(params);
  }

  /// Calls start() in a child, and returns the child's pid. `reader` is -1, or closed in the child.
  int begin(const std::string& input, Fd output, Fd reader) const {
    const UniqueFd in = must(linux::sys::open(scratch.file("stdin", input).c_str(), O_RDONLY));
    const int pid = ::fork();
    if (pid != 0) return pid;
    ::signal(SIGPIPE, SIG_IGN);
    ::setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
    if (::chdir(scratch.path().c_str()) != 0) ::_exit(9);
    ::close(reader.value);
    ::dup2(in.get(), 0);
    ::dup2(output.value, 1);
    ::dup2(output.value, 2);
    const auto done = start({.action = Action::kStart,
                             .container_namespace = space,
                             .id = id,
                             .address = grpc,
                             .publish_binary = "",
                             .bundle = "",
                             .debug = true},
                            play_server);
    if (!done) ignore(linux::write_all(Fd{2}, done.error().message()));
    ::_exit(done ? 0 : 1);
  }

  Outcome run(const std::string& input, bool closed_output = false) const {
    linux::Pipe out = must(linux::make_pipe());
    const int pid = begin(input, out.writer, closed_output ? Fd(out.reader) : Fd());
    out.writer.reset();
    if (closed_output) out.reader.reset();
    Outcome outcome;
    if (out.reader) outcome.output = must(linux::sys::read_all(out.reader, 65536));
    ::waitpid(pid, &outcome.status, 0);
    return outcome;
  }
  bool has_socket() const {
    return std::filesystem::exists(sockets) && !std::filesystem::is_empty(sockets);
  }
  std::string start_new() const {
    const Outcome outcome = run(bootstrap());
    BOOST_TEST(outcome.status == 0);
    const auto result = Received<Shimstart__BootstrapResult>::read(outcome.output);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((*result)->version == 3);
    BOOST_TEST(std::string((*result)->protocol) == "ttrpc");
    const std::string address = (*result)->address;
    BOOST_REQUIRE(address.starts_with("unix://" + sockets + "/"));
    return address.substr(7);
  }
  /// Ends the server. `word` is sent to it.
  static void end_server(const std::string& path, std::string_view word = "end") {
    {
      const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strcpy(address.sun_path, path.c_str());
      BOOST_TEST(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address),
                           sizeof address) == 0);
      must(linux::write_all(client, word));
    }
    BOOST_TEST(comes_true([&] { return mode_of(path) == -1; }));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(starting, StartScene)

BOOST_AUTO_TEST_CASE(a_new_server_lives_apart_from_the_process_that_has_started_it) {
  const std::string path = start_new();
  BOOST_TEST(mode_of(path) == 0600);
  const std::string portrait = path + ".portrait";
  BOOST_TEST(comes_true([&] { return mode_of(portrait) != -1; }));
  BOOST_TEST(slurp(portrait) ==
             fmt::format("namespace k8s.io events /run/c.ttrpc leader true "
                         "group true cwd / notify unset score {}\n/dev/null/dev/null/dev/null",
                         std::min(score + 1, 1000)));
  end_server(path);
}

BOOST_AUTO_TEST_CASE(the_address_is_in_the_bundle_too) {
  const std::string path = start_new();
  BOOST_TEST(slurp(scratch / "address") == "unix://" + path);
  BOOST_TEST(mode_of(scratch / "address") == 0600);
  end_server(path);
}

BOOST_AUTO_TEST_CASE(the_second_container_of_a_group_finds_the_server) {
  scratch.file("config.json", R"({"annotations": {"io.kubernetes.cri.sandbox-id": "pod1"}})");
  const std::string path = start_new();
  ::unlink((scratch / "address").c_str());
  id = "web2";
  BOOST_TEST(start_new() == path);
  BOOST_TEST(slurp(scratch / "address") == "unix://" + path);
  end_server(path);
  BOOST_TEST(start_new() == path);  // a new server
  end_server(path);
}

BOOST_AUTO_TEST_CASE(the_calls_and_the_error_of_a_server_are_in_the_log) {
  BOOST_REQUIRE(::mkfifo((scratch / "log").c_str(), 0700) == 0);
  const UniqueFd log = must(linux::sys::open((scratch / "log").c_str(), O_RDWR | O_NONBLOCK));
  end_server(start_new(), "fail");
  std::string lines;
  BOOST_TEST(comes_true([&] {
    char some[512];
    const auto count = ::read(log.get(), some, sizeof some);
    if (count > 0) lines.append(some, static_cast<std::size_t>(count));
    return lines.find("level=error msg=\"asked to fail\"") != std::string::npos;
  }));
  BOOST_TEST(lines.find("level=debug msg=\"Describe took 1.000 ms\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_error_is_one_sentence_and_leaves_no_socket) {
  sockets = scratch / "s";
  scratch.file("config.json", "{");
  const Outcome outcome = run(bootstrap());
  BOOST_TEST(WEXITSTATUS(outcome.status) == 1);
  BOOST_TEST(outcome.output.starts_with("config.json: "));
  BOOST_TEST(mode_of(sockets) == -1);
}

BOOST_AUTO_TEST_CASE(without_the_file_for_the_address_there_is_no_server) {
  BOOST_REQUIRE(::mkdir((scratch / "address").c_str(), 0700) == 0);
  const Outcome outcome = run(bootstrap());
  BOOST_TEST(WEXITSTATUS(outcome.status) == 1);
  BOOST_TEST(outcome.output.starts_with("write address: "));
  BOOST_TEST(!has_socket());
}

BOOST_AUTO_TEST_CASE(a_server_whose_address_nobody_reads_is_ended) {
  const Outcome outcome = run(bootstrap(), true);
  BOOST_TEST(WEXITSTATUS(outcome.status) == 1);
  for (const auto& entry : std::filesystem::directory_iterator(sockets))
    BOOST_TEST(entry.path().extension() == ".portrait");
}

BOOST_AUTO_TEST_CASE(a_server_ends_when_start_was_killed_before_its_answer) {
  const linux::Pipe full = must(linux::make_pipe());
  must(linux::set_nonblocking(full.writer));
  const std::string page(4096, 'x');
  while (::write(full.writer.get(), page.data(), page.size()) > 0) {
  }
  ::fcntl(full.writer.get(), F_SETFL, 0);  // start() waits for a reader of its answer
  const int pid = begin(bootstrap(), full.writer, Fd());
  BOOST_TEST(
      comes_true([&] { return slurp(fmt::format("/proc/{0}/task/{0}/children", pid)) != ""; }));
  BOOST_TEST(has_socket());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  BOOST_TEST(comes_true([&] { return !has_socket(); }));
}

BOOST_AUTO_TEST_CASE(the_cgroup_of_a_shim_must_exist) {
  const std::string cgroup = "/no/such/cgroup", type(kRuncOptions);
  auto options = new_message<Shim__Options>();
  options.shim_cgroup = in_message(cgroup);
  const std::string value = bytes_of(options);
  auto any = new_message<Shim__Any>();
  any.type_url = in_message(type);
  any.value = data_in_message(value);
  auto extension = new_message<Shimstart__Extension>();
  extension.value = &any;
  auto extensions = new_message<Shimstart__BootstrapParams>();
  Shimstart__Extension* list[] = {&extension};
  extensions.extensions = list;
  extensions.n_extensions = 1;
  const Outcome outcome = run(bootstrap() + bytes_of(extensions));
  BOOST_TEST(outcome.output.starts_with("ShimCgroup \"/no/such/cgroup\": no hierarchy has this"));
  BOOST_TEST(std::filesystem::is_empty(sockets));
}

BOOST_AUTO_TEST_SUITE_END()
