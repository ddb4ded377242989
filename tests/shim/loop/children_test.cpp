// Children changes the signal mask of the process and makes it a subreaper: each test is a child.

#include "shim/loop/children.hpp"

#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <map>
#include <new>
#include <optional>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/shim/loop_scene.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

struct ChildrenScene : LoopScene {
  std::unique_ptr<Children> children = must(Children::make(loop));

  /// Waits until the child has been collected.
  Async<> until_gone(int pid) {
    const bool is_gone = co_await comes([pid] { return ::kill(pid, 0) != 0; });
    BOOST_TEST(is_gone);
  }
};

int child_that_exits(int code) {
  const int pid = ::fork();
  if (pid == 0) ::_exit(code);
  return pid;
}

int child_that_waits() {
  const int pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  return pid;
}

/// The pid of a process whose parent ends, and which ends with 5 when it has become ours.
int orphan() {
  linux::Pipe told = must(linux::make_pipe());
  const int us = ::getpid();
  if (::fork() == 0) {
    if (::fork() == 0) {
      const int pid = ::getpid();
      must(linux::write_all(told.writer, {reinterpret_cast<const char*>(&pid), sizeof pid}));
      while (::getppid() != us) ::usleep(1000);
      ::_exit(5);
    }
    ::_exit(0);
  }
  int pid = 0;
  if (::read(told.reader.get(), &pid, sizeof pid) != sizeof pid) throw std::runtime_error("read");
  return pid;
}

void in_children_scene(Async<> (*body)(ChildrenScene&)) {
  BOOST_TEST(run_in_child(0, [body] {
               ChildrenScene scene;
               scene.run([&] { return body(scene); });
               BOOST_TEST(children_of_this_process() == "");
             }) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_children)

BOOST_AUTO_TEST_CASE(the_end_of_a_child_has_its_status_and_time) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    timespec before{}, after{};
    ::clock_gettime(CLOCK_REALTIME, &before);
    const ProcessEnd end = co_await scene.children->end_of(child_that_exits(7));
    ::clock_gettime(CLOCK_REALTIME, &after);
    BOOST_TEST(end.exit_code() == 7U);
    BOOST_TEST(end.at.tv_sec >= before.tv_sec);
    BOOST_TEST(end.at.tv_sec <= after.tv_sec);
    const int pid = child_that_waits();
    ::kill(pid, SIGKILL);
    const ProcessEnd killed = co_await scene.children->end_of(pid);
    BOOST_TEST(killed.exit_code() == 137U);
  });
}

BOOST_AUTO_TEST_CASE(a_child_that_stops_has_not_ended) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    const int pid = child_that_waits();
    bool has_ended = false;
    scene.children->expect(pid, [&](const ProcessEnd&) { has_ended = true; });
    ::kill(pid, SIGSTOP);
    co_await scene.let_work(20);
    BOOST_TEST(!has_ended);
    ::kill(pid, SIGKILL);
    const bool ends = co_await scene.comes([&] { return has_ended; });
    BOOST_TEST(ends);
  });
}

BOOST_AUTO_TEST_CASE(many_children_that_end_at_once_are_all_told) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    std::map<int, std::uint32_t> expected, told;
    for (int i = 0; i < 50; ++i) {
      const int pid = child_that_exits(i);
      expected[pid] = static_cast<std::uint32_t>(i);
      scene.children->expect(pid, [&told, pid](const ProcessEnd& end) {
        BOOST_TEST(told.emplace(pid, end.exit_code()).second);
      });
    }
    const bool are_told = co_await scene.comes([&] { return told.size() == expected.size(); });
    BOOST_TEST(are_told);
    BOOST_TEST((told == expected));
  });
}

BOOST_AUTO_TEST_CASE(a_memory_keeps_the_end_of_a_child_that_nobody_has_expected_yet) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    std::optional<Children::Memory> memory(*scene.children);
    {
      const Children::Memory shorter(*scene.children);
    }
    const int pid = child_that_exits(3);
    co_await scene.until_gone(pid);
    bool is_told = false;
    scene.children->expect(pid, *memory, [&](const ProcessEnd& end) {
      is_told = true;
      BOOST_TEST(end.exit_code() == 3U);
    });
    BOOST_TEST(!is_told);  // not within expect()
    const bool is_told_soon = co_await scene.comes([&] { return is_told; });
    BOOST_TEST(is_told_soon);
  });
}

BOOST_AUTO_TEST_CASE(a_child_does_not_get_the_end_of_an_earlier_one_with_its_pid) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    const Children::Memory longer(*scene.children);
    const int pid = child_that_exits(3);
    co_await scene.until_gone(pid);
    const Children::Memory memory(*scene.children);  // of a call that begins later
    int told = 0;
    scene.children->expect(pid, memory, [&](const ProcessEnd&) { ++told; });
    scene.children->expect(pid, [&](const ProcessEnd&) { ++told; });
    const int next = child_that_exits(0);
    co_await scene.children->end_of(next);
    co_await scene.let_work();
    BOOST_TEST(told == 0);
  });
}

BOOST_AUTO_TEST_CASE(a_process_whose_parent_has_ended_becomes_ours) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    const Children::Memory memory(*scene.children);
    const int pid = orphan();
    std::uint32_t code = 0;
    scene.children->expect(pid, memory, [&](const ProcessEnd& end) { code = end.exit_code(); });
    const bool is_told = co_await scene.comes([&] { return code != 0; });
    BOOST_TEST(is_told);
    BOOST_TEST(code == 5U);
    const bool is_alone = co_await scene.comes([] { return children_of_this_process().empty(); });
    BOOST_TEST(is_alone);
  });
}

BOOST_AUTO_TEST_CASE(a_function_is_called_in_a_child_while_the_loop_works) {
  in_children_scene([](ChildrenScene& scene) -> Async<> {
    void* const memory = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BOOST_REQUIRE(memory != MAP_FAILED);
    auto& rounds = *new (memory) std::atomic<int>(0);
    bool has_ended = false;
    go([](ChildrenScene& seen, std::atomic<int>& count, const bool& ended) -> Async<> {
      while (!ended) {
        ++count;
        co_await seen.let_work(1);
      }
    }(scene, rounds, has_ended));
    int changed = 0;
    std::function<Result<void>()> act = [&]() -> Result<void> {
      changed = 1;
      while (rounds < 5) ::usleep(1000);  // for ever if the loop waited for this child
      return {};
    };
    const Result<void> done = co_await scene.children->call(std::move(act), "sleep");
    has_ended = true;
    BOOST_TEST(done.has_value());
    BOOST_TEST(changed == 0);  // in the child alone
    std::function<Result<void>()> failing = []() -> Result<void> {
      return fail(EBUSY, "mount {}", "/a");
    };
    const Result<void> failed = co_await scene.children->call(std::move(failing), "mount");
    BOOST_TEST(must_fail(failed).contains("mount /a: device or resource busy"));
    std::function<Result<void>()> dying = []() -> Result<void> {
      ::raise(SIGKILL);
      return {};
    };
    const Result<void> died = co_await scene.children->call(std::move(dying), "mount /b");
    BOOST_TEST(must_fail(died) == "mount /b: the process was killed by signal 9 (SIGKILL)");
    std::function<Result<void>()> wordy = []() -> Result<void> {
      return refuse("{}", std::string(1 << 20, 'a'));
    };
    const Result<void> cut = co_await scene.children->call(std::move(wordy), "mount");
    BOOST_TEST(must_fail(cut).size() < 2100U);
    const UniqueFd open = must(linux::sys::open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::function<Result<void>()> looking = [&open]() -> Result<void> {
      if (::fcntl(open.get(), F_GETFD) < 0) return {};
      return refuse("the child has descriptors of its parent");
    };
    const Result<void> closed = co_await scene.children->call(std::move(looking), "look");
    BOOST_TEST(closed.has_value());
    co_await scene.let_work(3);  // the counting coroutine ends
  });
}

BOOST_AUTO_TEST_CASE(programs_get_the_limit_of_open_files_that_the_shim_was_given) {
  BOOST_TEST(run_in_child(0, [] {
               const rlimit given{.rlim_cur = 64, .rlim_max = 200};
               BOOST_TEST(::setrlimit(RLIMIT_NOFILE, &given) == 0);
               const Scratch scratch;
               const std::string file = scratch.file("limits", "");
               ChildrenScene scene;
               std::vector<UniqueFd> many;
               for (int i = 0; i < 100; ++i)
                 many.push_back(must(linux::sys::open(file.c_str(), O_WRONLY | O_CLOEXEC)));
               scene.run([&]() -> Async<> {
                 const linux::ExecArguments arguments({"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"},
                                                      {"A=b"});
                 const Fd last = many.back();
                 const auto child =
                     scene.children->spawn(arguments, arguments.envp(), {last, last, last});
                 BOOST_TEST(child.has_value());
                 if (!child) co_return;
                 const ProcessEnd end = co_await scene.children->end_of(child->pid);
                 BOOST_TEST(end.status == 0);
               });
               BOOST_TEST(slurp(file) == "64\n200\n");
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
