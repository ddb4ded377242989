// The process that keeps the namespaces of a pod.

#include "pods/run/sandbox/holder.hpp"

#include <signal.h>
#include <sys/wait.h>

#include "linux/files/procfs.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

std::string link(const std::string& path) { return std::filesystem::read_symlink(path); }
std::string namespace_of(int pid, const std::string& type) {
  return link("/proc/" + std::to_string(pid) + "/ns/" + type);
}

/// Starts a holder and ends it with the test.
struct Scene {
  Scratch scratch;
  linux::ProcessIdentity recorded, holder;
  explicit Scene(const Sharing& sharing) {
    holder = must(start_holder(sharing, "shop", scratch.path(),
                               [&](const linux::ProcessIdentity& process) -> Result<void> {
                                 recorded = process;
                                 return {};
                               }));
  }
  ~Scene() {
    ::kill(holder.pid, SIGKILL);
    ::waitpid(holder.pid, nullptr, __WALL);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(holders)

OCIRUN_CHILD_TEST(a_holder_has_the_namespaces_that_containers_share, CLONE_NEWNS) {
  const Scene scene({.own_network = true, .pids = true});
  BOOST_TEST((scene.recorded == scene.holder));
  for (const char* type : {"net", "ipc", "uts", "pid", "mnt"})
    BOOST_TEST(namespace_of(scene.holder.pid, type) != link(std::string("/proc/self/ns/") + type));
  const SharedNamespaces shared =
      shared_namespaces(scene.holder, {.own_network = true, .pids = true}, "");
  BOOST_TEST(link(shared.pid) == namespace_of(scene.holder.pid, "pid"));
  BOOST_TEST(link(shared.network) == namespace_of(scene.holder.pid, "net"));
  BOOST_TEST(!shared.host_network);
  const UniqueFd uts(::open(shared.uts.c_str(), O_RDONLY | O_CLOEXEC));
  test::detail::check(::setns(uts.get(), CLONE_NEWUTS) == 0, "setns");
  char name[64] = "";
  ::gethostname(name, sizeof name);
  BOOST_TEST(std::string(name) == "shop");
}

OCIRUN_CHILD_TEST(what_containers_do_not_share_is_the_hosts, CLONE_NEWNS) {
  const Scene scene({.own_network = false, .pids = false});
  for (const char* type : {"net", "pid"})
    BOOST_TEST(namespace_of(scene.holder.pid, type) == link(std::string("/proc/self/ns/") + type));
  const Sharing sharing{.own_network = false, .pids = false};
  BOOST_TEST(shared_namespaces(scene.holder, sharing, "").host_network);
  BOOST_TEST(shared_namespaces(scene.holder, sharing, "/n").network == "/n");
  BOOST_TEST(!shared_namespaces(scene.holder, sharing, "/n").host_network);
  BOOST_TEST(shared_namespaces(scene.holder, sharing, "").pid == "");
}

OCIRUN_CHILD_TEST(a_holder_has_an_empty_root_and_no_privileges, CLONE_NEWNS) {
  const Scene scene({.own_network = true, .pids = false});
  const std::string self = "/proc/" + std::to_string(scene.holder.pid);
  BOOST_TEST(std::filesystem::is_empty(self + "/root"));
  const std::string status = slurp(self + "/status");
  for (const char* line :
       {"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"})
    BOOST_TEST(status.contains(line), line);
  for (const auto& entry : std::filesystem::directory_iterator(self + "/fd"))
    BOOST_TEST(std::stoi(entry.path().filename()) <= 2);
  // Nothing of its root is seen outside, where a directory is removed with the pod.
  BOOST_TEST(scene.scratch.names().empty());
}

OCIRUN_CHILD_TEST(a_holder_that_cannot_be_recorded_does_not_stay, CLONE_NEWNS) {
  const Scratch scratch;
  const auto started = start_holder({.own_network = true, .pids = false}, "shop", scratch.path(),
                                    [](const linux::ProcessIdentity&) -> Result<void> {
                                      return fail(ENOSPC, "write the record");
                                    });
  BOOST_TEST(must_fail(started) == "write the record: no space left on device");
  BOOST_TEST(children_of_this_process() == "");
}

OCIRUN_CHILD_TEST(the_reason_why_a_holder_does_not_start_is_told, CLONE_NEWNS) {
  ::signal(SIGPIPE, SIG_IGN);  // as in ocirun-pod
  const auto started = start_holder({.own_network = true, .pids = false}, "shop", "/absent",
                                    [](const linux::ProcessIdentity&) { return Result<void>(); });
  BOOST_TEST(must_fail(started).contains("an empty root"));
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_SUITE_END()
