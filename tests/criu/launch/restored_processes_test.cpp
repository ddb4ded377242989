#include "criu/launch/restored_processes.hpp"

#include <pthread.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>

#include "linux/base/file_io.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

// Each test is the first process of a pid namespace. It traces processes as CRIU does, and adopts
// orphans.

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

Procfs open_proc() { return must(Procfs::open(Procfs::Subset::kProcesses)); }

/// A child that does `work`, and then nothing until a signal kills it.
int start(const std::function<void()>& work = [] {}) {
  const int pid = ::fork();
  if (pid != 0) return pid;
  [&]() noexcept { work(); }();
  for (;;) ::pause();
}

void tell(const Pipe& pipe, int number) {
  if (::write(pipe.writer.get(), &number, sizeof number) != sizeof number) ::_exit(1);
}
int told(const Pipe& pipe) {
  int number = 0;
  BOOST_TEST_REQUIRE((::read(pipe.reader.get(), &number, sizeof number) == sizeof number));
  return number;
}

/// A child with a child that has a child: their pids.
std::vector<int> start_three() {
  const Pipe pipe = must(make_pipe());
  std::vector<int> pids{start([&] { tell(pipe, start([&] { tell(pipe, start()); })); })};
  for (int count = 0; count < 2; ++count) pids.push_back(told(pipe));
  return pids;
}

/// A process whose parent has ended: a child of this process, which adopts orphans.
int start_orphan() {
  const Pipe pipe = must(make_pipe());
  const int parent = start([&] {
    tell(pipe, start());
    ::_exit(0);
  });
  BOOST_TEST(::waitpid(parent, nullptr, 0) == parent);
  return told(pipe);
}

/// Starts a thread that does `work` and then waits.
void start_thread(const std::function<void()>& work) {
  pthread_t thread{};
  const auto body = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    for (;;) ::pause();
  };
  // The process ends by a signal: nobody releases the copy.
  auto* const copy = new std::function<void()>(work);
  if (::pthread_create(&thread, nullptr, body, copy) != 0) ::_exit(1);
}

void trace(int thread) { BOOST_TEST_REQUIRE(::ptrace(PTRACE_SEIZE, thread, nullptr, 0) == 0); }

/// The signal that a child, or a traced thread, of this process has died of; nothing while the
/// child lives for long.
std::optional<int> deadly_signal(int pid) {
  int status = 0;
  if (!comes_true([&] { return ::waitpid(pid, &status, WNOHANG | __WALL) == pid; }))
    return std::nullopt;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
/// Whether nothing has killed the process. Kills the process.
bool was_spared(int pid) { return ::kill(pid, SIGTERM) == 0 && deadly_signal(pid) == SIGTERM; }

void check_same(std::vector<int> found, std::vector<int> wanted) {
  std::ranges::sort(found);
  std::ranges::sort(wanted);
  BOOST_TEST(found == wanted, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(restored_processes_of_init)

OCIRUN_CHILD_TEST(the_tree_of_init_is_found_whether_init_is_traced_or_not, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  start();  // a stranger
  const std::vector<int> tree = start_three();
  check_same(must(restored_processes(procfs, tree.front())), tree);
  check_same(must(restored_processes(procfs, tree[1])), {tree.begin() + 1, tree.end()});
  trace(tree.front());
  check_same(must(restored_processes(procfs, tree.front())), tree);
}

OCIRUN_CHILD_TEST(a_child_that_another_thread_made_belongs_to_the_tree, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const Pipe pipe = must(make_pipe());
  const int init = start([&] { start_thread([&] { tell(pipe, start()); }); });
  const int child = told(pipe);
  check_same(must(restored_processes(procfs, init)), {init, child});
}

OCIRUN_CHILD_TEST(an_orphan_with_the_tracer_of_init_is_found, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const std::vector<int> tree = start_three();
  const int orphan = start_orphan();
  const int stranger = start_orphan();
  trace(tree.front());
  trace(orphan);
  std::vector<int> all = tree;
  all.push_back(orphan);
  check_same(must(restored_processes(procfs, tree.front())), all);
  kill_restored(procfs, tree.front());
  for (const int pid : all) BOOST_TEST((deadly_signal(pid) == SIGKILL), pid);
  BOOST_TEST(was_spared(stranger));
}

OCIRUN_CHILD_TEST(a_process_with_another_tracer_is_a_stranger, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const int init = start();
  const int stranger = start_orphan();
  trace(init);
  const Pipe pipe = must(make_pipe());
  const int tracer =
      start([&] { tell(pipe, ::ptrace(PTRACE_SEIZE, stranger, nullptr, 0) == 0 ? 1 : 0); });
  BOOST_TEST(told(pipe) == 1);
  check_same(must(restored_processes(procfs, init)), {init});
  kill_restored(procfs, init);
  BOOST_TEST((deadly_signal(init) == SIGKILL));
  BOOST_TEST(was_spared(tracer));
  BOOST_TEST(was_spared(stranger));
}

OCIRUN_CHILD_TEST(a_traced_process_whose_first_thread_has_ended_is_found, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const int init = start();
  trace(init);
  const Pipe pipe = must(make_pipe());
  const int other = start([&] {
    start_thread([&] { tell(pipe, ::gettid()); });
    ::syscall(SYS_exit, 0);  // ends the first thread alone
  });
  const int thread = told(pipe);
  BOOST_TEST_REQUIRE(thread != other);
  BOOST_TEST_REQUIRE(comes_true([&] {
    return must(procfs.read(fmt::format("{0}/task/{0}/status", other))).contains("State:\tZ");
  }));
  check_same(must(restored_processes(procfs, init)), {init});
  trace(thread);
  check_same(must(restored_processes(procfs, init)), {init, other});
  kill_restored(procfs, init);
  BOOST_TEST((deadly_signal(init) == SIGKILL));
  BOOST_TEST((deadly_signal(thread) == SIGKILL));  // the kernel keeps it for its tracer
  BOOST_TEST((deadly_signal(other) == SIGKILL));
}

OCIRUN_CHILD_TEST(a_tree_without_a_tracer_is_killed_without_others, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const std::vector<int> tree = start_three();
  const int stranger = start_orphan();
  kill_restored(procfs, tree.front());
  for (const int pid : tree) BOOST_TEST((deadly_signal(pid) == SIGKILL), pid);
  BOOST_TEST(was_spared(stranger));
}

OCIRUN_CHILD_TEST(an_init_that_has_gone_is_an_error_and_kills_nobody, CLONE_NEWPID) {
  const Procfs procfs = open_proc();
  const int gone = start([] { ::_exit(0); });
  BOOST_TEST(::waitpid(gone, nullptr, 0) == gone);
  BOOST_TEST(must_fail(restored_processes(procfs, gone)).contains(fmt::format("process {}", gone)));
  BOOST_TEST_REQUIRE(::setsid() > 0);  // kill(0, …) would reach the whole process group
  const int stranger = start();
  for (const int init : {gone, 1, 0, -1}) kill_restored(procfs, init);
  BOOST_TEST(was_spared(stranger));
}

OCIRUN_CHILD_TEST(what_criu_has_made_is_killed_but_no_earlier_child_and_not_the_caller,
                  CLONE_NEWPID) {
  const Pipe pipe = must(make_pipe());
  const int stranger = start();
  const int caller = start([&] {
    const Procfs procfs = open_proc();
    tell(pipe, start());
    const CriuProcesses processes(procfs);
    for (const int pid : start_three()) tell(pipe, pid);
    processes.kill();
    tell(pipe, 0);
  });
  const int earlier_child = told(pipe);
  std::vector<int> below;
  for (int pid = told(pipe); pid != 0; pid = told(pipe)) below.push_back(pid);
  BOOST_TEST(below.size() == 3U);
  BOOST_TEST(was_spared(caller));  // this process adopts the children of the caller
  for (const int pid : below) BOOST_TEST((deadly_signal(pid) == SIGKILL), pid);
  BOOST_TEST(was_spared(earlier_child));
  BOOST_TEST(was_spared(stranger));
}

BOOST_AUTO_TEST_SUITE_END()
