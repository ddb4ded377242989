// The process that keeps descriptors and the mounts of a pod.

#include "pods/run/sandbox/keeper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// Starts a keeper and ends it with the test.
struct KeeperScene {
  linux::ProcessIdentity recorded;
  Keeper keeper = must(Keeper::start([this](const linux::ProcessIdentity& process) {
    recorded = process;
    return Result<void>();
  }));
  ~KeeperScene() {
    ::kill(keeper.process().pid, SIGKILL);
    ::waitpid(keeper.process().pid, nullptr, __WALL);
  }
  KeeperScene() = default;
  KeeperScene(const KeeperScene&) = delete;
  KeeperScene& operator=(const KeeperScene&) = delete;

  /// Takes a slot. The keeper answers no request: it may not have handled the last one yet.
  UniqueFd take(std::uint16_t slot) const {
    Result<UniqueFd> taken = std::unexpected(Error(EBADF, ""));
    comes_true([&] {
      taken = keeper.take(slot);
      return taken.has_value();
    });
    return must(std::move(taken));
  }
};

void write_to(Fd pipe, std::string_view text) { must(linux::write_all(pipe, text)); }
/// What the pipe has now.
std::string read_from(Fd pipe) {
  pollfd watched{pipe.value, POLLIN, 0};
  if (::poll(&watched, 1, 0) != 1) return "";
  std::array<char, 64> piece;
  const ssize_t count = ::read(pipe.value, piece.data(), piece.size());
  return std::string(piece.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keepers)

OCIRUN_CHILD_TEST(a_keeper_gives_back_what_it_was_given_to_whoever_finds_it, 0) {
  const KeeperScene scene;
  BOOST_TEST((scene.recorded == scene.keeper.process()));
  linux::Pipe out = must(linux::make_pipe()), err = must(linux::make_pipe());
  const std::uint16_t slot = Keeper::output_slot(3);
  must(scene.keeper.keep(slot, std::array{Fd(out.reader), Fd(err.reader)}));
  out.reader.reset();
  err.reader.reset();
  write_to(out.writer, "out");
  write_to(err.writer, "err");
  ignore(scene.take(slot));
  const Keeper found = must(Keeper::find(scene.recorded));
  BOOST_TEST(read_from(must(found.take(slot))) == "out");
  BOOST_TEST(read_from(must(found.take(slot + 1))) == "err");
  // Who has found it can put something else in the place.
  linux::Pipe other = must(linux::make_pipe());
  must(found.keep(slot, std::array{Fd(other.reader)}));
  write_to(other.writer, "other");
  std::string text;
  comes_true([&] { return !(text = read_from(must(found.take(slot)))).empty(); });
  BOOST_TEST(text == "other");
}

OCIRUN_CHILD_TEST(a_pipe_breaks_only_when_its_slot_is_taken_by_another_one, 0) {
  ::signal(SIGPIPE, SIG_IGN);
  const KeeperScene scene;
  linux::Pipe first = must(linux::make_pipe()), second = must(linux::make_pipe());
  const std::uint16_t slot = Keeper::output_slot(0);
  must(scene.keeper.keep(slot, std::array{Fd(first.reader)}));
  first.reader.reset();
  write_to(first.writer, "x");
  must(scene.keeper.keep(slot, std::array{Fd(second.reader)}));
  comes_true([&] { return ::write(first.writer.get(), "x", 1) < 0; });
  BOOST_TEST(errno == EPIPE);
  must(scene.keeper.keep(slot, {}));
  second.reader.reset();
  comes_true([&] { return ::write(second.writer.get(), "x", 1) < 0; });
  const auto empty = scene.keeper.take(slot);
  BOOST_REQUIRE(!empty);
  BOOST_TEST(empty.error().number() == EBADF);
}

OCIRUN_CHILD_TEST(slots_do_not_collide, 0) {
  BOOST_TEST(Keeper::kMetadata + 2 == Keeper::output_slot(0));
  BOOST_TEST(Keeper::output_slot(0) + 2 == Keeper::program_slot(0));
  BOOST_TEST(Keeper::output_slot(0) + 3 == Keeper::output_slot(1));
  BOOST_TEST(Keeper::lock_slot(5, 0) == Keeper::output_slot(5));
  BOOST_TEST(Keeper::lock_slot(5, 1) == Keeper::lock_slot(5, 0) + 1);
}

OCIRUN_CHILD_TEST(the_mounts_of_a_pod_stay_with_its_keeper, CLONE_NEWNS) {
  const Scratch scratch;
  const UniqueFd before = must(linux::sys::open("/proc/self/ns/mnt", O_RDONLY));
  test::detail::check(::unshare(CLONE_NEWNS) == 0, "unshare");
  test::detail::check(::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, nullptr) == 0, "mount");
  ignore(scratch.file("of-the-pod", "x"));
  const KeeperScene scene;
  test::detail::check(::setns(before.get(), CLONE_NEWNS) == 0, "setns");
  BOOST_TEST(scratch.names().empty());
  must(scene.keeper.enter_mount_namespace());
  BOOST_TEST(slurp(scratch / "of-the-pod") == "x");
}

OCIRUN_CHILD_TEST(a_keeper_has_no_privileges_and_cannot_be_looked_into, 0) {
  const KeeperScene scene;
  const std::string self = "/proc/" + std::to_string(scene.keeper.process().pid);
  comes_true([&] { return slurp(self + "/status").contains("CapEff:\t0000000000000000"); });
  const std::string status = slurp(self + "/status");
  for (const char* line : {"Name:\tocirun-keep", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"})
    BOOST_TEST(status.contains(line), line);
  for (const auto& entry : std::filesystem::directory_iterator(self + "/fd"))
    BOOST_TEST(std::stoi(entry.path().filename()) <= 2);
}

OCIRUN_CHILD_TEST(a_keeper_that_has_ended_is_not_found, 0) {
  linux::ProcessIdentity process;
  {
    const KeeperScene scene;
    process = scene.recorded;
  }
  const auto found = Keeper::find(process);
  BOOST_REQUIRE(!found);
  BOOST_TEST(found.error().number() == ESRCH);
}

OCIRUN_CHILD_TEST(a_keeper_that_cannot_be_recorded_does_not_stay, 0) {
  const auto started = Keeper::start([](const linux::ProcessIdentity&) -> Result<void> {
    return fail(ENOSPC, "write the record");
  });
  BOOST_TEST(must_fail(started) == "write the record: no space left on device");
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_SUITE_END()
