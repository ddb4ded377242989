// `delete` with a script as the runtime.

#include "shim/start/delete.hpp"

#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ctime>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "shim/messages/message.hpp"
#include "shim/options/runtime_record.hpp"
#include "shim/start/socket.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

struct DeleteScene {
  Scratch scratch;
  std::string bundle = scratch / "bundle";

  DeleteScene() {
    std::filesystem::create_directories(bundle + "/rootfs");
    record(scratch.script("runtime", "echo \"$@\" >" + scratch / "words"));
  }
  void record(const std::string& runtime) const {
    scratch.file(
        "bundle/shim.json",
        fmt::format(R"({{"format":1,"runtime":"{}","root":"/run/r","systemdCgroup":true}})",
                    runtime));
  }
  /// Calls delete_container() with standard output in the file `out`.
  Result<void> remove() const {
    const int saved = ::dup(STDOUT_FILENO);
    const UniqueFd out =
        must(linux::sys::open((scratch / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    ::dup2(out.get(), STDOUT_FILENO);
    auto done = delete_container({.action = Action::kDelete,
                                  .container_namespace = "k8s.io",
                                  .id = "web1",
                                  .address = "",
                                  .publish_binary = "",
                                  .bundle = bundle,
                                  .debug = false});
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    return done;
  }
  void check_response(std::uint32_t pid) const {
    const auto response = Received<Shim__DeleteResponse>::read(slurp(scratch / "out"));
    BOOST_REQUIRE(response.has_value());
    BOOST_TEST((*response)->pid == pid);
    BOOST_TEST((*response)->exit_status == 137u);
    BOOST_REQUIRE((*response)->exited_at != nullptr);
    BOOST_TEST(std::abs((*response)->exited_at->seconds - ::time(nullptr)) < 60);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(deletion, DeleteScene)

BOOST_AUTO_TEST_CASE(the_runtime_of_the_record_deletes_the_container, *needs_root()) {
  must(remove());
  BOOST_TEST(slurp(scratch / "words") == "--root /run/r delete --force web1\n");
  check_response(0);
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(the_socket_of_a_server_that_was_killed_is_removed, *needs_root()) {
  const std::string socket = scratch / "s/socket";
  UniqueFd listening = must(listen_or_find(socket));
  scratch.file("bundle/address", "unix://" + socket);
  must(remove());
  BOOST_TEST(mode_of(socket) == 0600);
  listening.reset();
  must(remove());
  BOOST_TEST(mode_of(socket) == -1);
}

BOOST_AUTO_TEST_CASE(the_pid_of_the_container_is_told, *needs_root()) {
  scratch.file("bundle/init.pid", "4711");
  must(remove());
  check_response(4711);
}

BOOST_AUTO_TEST_CASE(nothing_left_is_a_success, *needs_root()) {
  must(remove());
  must(remove());
  std::filesystem::remove(bundle + "/rootfs");
  must(remove());
  check_response(0);
}

BOOST_AUTO_TEST_CASE(the_rootfs_is_unmounted_as_often_as_it_is_mounted, *needs_root()) {
  const int status = run_in_child(CLONE_NEWNS, [&] {
    const std::string rootfs = bundle + "/rootfs";
    for (int i = 0; i < 3; ++i)
      must(linux::sys::mount("tmpfs", rootfs.c_str(), "tmpfs", 0, nullptr));
    scratch.script("runtime", "exit 3");
    BOOST_TEST(!remove());  // the rootfs is unmounted all the same
    BOOST_TEST(!slurp("/proc/self/mountinfo").contains(rootfs));
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(what_the_runtime_says_is_the_error) {
  const std::string runtime = scratch.script("runtime", "echo no such luck >&2; exit 3");
  BOOST_TEST(must_fail(remove()) ==
             "delete the container web1: " + runtime + ": exited with status 3: no such luck");
  BOOST_TEST(slurp(scratch / "out") == "");
}

BOOST_AUTO_TEST_CASE(a_runtime_that_hangs_is_killed_after_four_seconds) {
  const std::string runtime = scratch.script("runtime", "exec sleep 987");
  std::string said;
  const double seconds = seconds_of([&] { said = must_fail(remove()); });
  BOOST_TEST(said ==
             "delete the container web1: " + runtime + ": did not end within 4 s, and was killed");
  BOOST_TEST(seconds >= 4.0);
  BOOST_TEST(seconds < kHang);
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(the_record_is_read_strictly) {
  const UniqueFd directory = must(linux::sys::open(bundle.c_str(), O_PATH | O_DIRECTORY));
  const auto read = [&](std::string_view text) {
    scratch.file("bundle/shim.json", text);
    return must_fail(read_runtime_record(directory, "k8s.io"));
  };
  BOOST_TEST(read("{").starts_with("shim.json: "));
  BOOST_TEST(read(R"({"format":1,"runtime":"/r","root":"/x"})")
                 .starts_with("shim.json: /systemdCgroup: is missing"));
  BOOST_TEST(read(R"({"format":1,"runtime":"r","root":"/x","systemdCgroup":true})")
                 .starts_with("shim.json: /runtime: must be an absolute path"));
  BOOST_TEST(read(R"({"format":2,"runtime":"/r","root":"/x","systemdCgroup":true})")
                 .starts_with("shim.json: /format: is 2, and this version"));
  BOOST_TEST(read(R"({"format":1,"runtime":"/r","root":"/x","systemdCgroup":true,"a":1})")
                 .starts_with("shim.json: /a: unknown name"));
}

BOOST_AUTO_TEST_CASE(without_a_record_the_defaults_hold) {
  scratch.script("ocirun", "");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", scratch.path().c_str(), 1);
  const auto found = read_runtime_record(Fd(), "k8s.io");
  ::setenv("PATH", before.c_str(), 1);
  const RuntimeRecord record = must(found);
  BOOST_TEST(record.runtime.ends_with("/ocirun"));
  BOOST_TEST(record.root == "/run/containerd/ocirun/k8s.io");
  BOOST_TEST(!record.systemd_cgroup);
}

BOOST_AUTO_TEST_SUITE_END()
