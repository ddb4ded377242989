#include "runtime/state/container.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "linux/files/procfs.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/commands/remove.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// A child of the test that has executed another program, like the init of a started container, or
/// that has not, like the init of a created one.
class Init {
 public:
  enum class Phase { kStarted, kCreated };
  explicit Init(Phase phase = Phase::kStarted) {
    pid_ = ::fork();
    if (pid_ == 0 && phase == Phase::kCreated)
      while (true) ::pause();
    if (pid_ == 0) {
      ::execl("/bin/sleep", "sleep", "979", nullptr);
      ::_exit(127);
    }
    if (phase == Phase::kCreated) return;
    comes_true([&] { return slurp("/proc/" + std::to_string(pid_) + "/comm") == "sleep\n"; });
  }
  ~Init() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Init(const Init&) = delete;
  Init& operator=(const Init&) = delete;
  int pid() const { return pid_; }
  unsigned long long start_time() const { return must(linux::read_process_stat(pid_)).start_time; }
  bool is_alive() const { return must(linux::read_process_stat(pid_)).state != 'Z'; }
  void die_and_stay_a_zombie() const {
    ::kill(pid_, SIGKILL);
    siginfo_t information{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &information, WEXITED | WNOWAIT);
  }

 private:
  pid_t pid_ = 0;
};

/// A state root with one container, "web1", that has no cgroup.
class Root {
 public:
  explicit Root(const Init& init) {
    record.id = "web1";
    record.oci_version = "1.3.0";
    record.bundle = scratch.path();
    record.rootfs = scratch.path();
    record.created = "2026-01-02T03:04:05.000000006Z";
    record.init_pid = init.pid();
    record.init_start_time = init.start_time();
    record.init_image = must(linux::own_image());
    record.boot_id = slurp("/proc/sys/kernel/random/boot_id");
    record.boot_id.pop_back();
    record.cgroup_manager = cgroups::Manager::kDisabled;
    record.own_pid_namespace = true;
    record.has_process = true;
    options.root = HostPath(scratch.path());
    const StateDirectory directory = must(must(Store::open(options.root, MissingRoot::kIsAnError))
                                              .create(must(ContainerId::parse("web1"))));
    must(directory.commit(record));
  }
  Container load() const {
    return must(Container::load(options, must(ContainerId::parse("web1"))));
  }
  void commit() const { must(load().directory().commit(record)); }
  Status status() const { return load().status(); }

  Scratch scratch;
  GlobalOptions options;
  bundle::ContainerRecord record;
};

const ContainerId kId = must(ContainerId::parse("web1"));

}  // namespace

BOOST_AUTO_TEST_SUITE(container)

BOOST_AUTO_TEST_CASE(a_container_whose_init_runs_is_running_with_its_pid) {
  const Init init;
  const Root root(init);
  const bundle::StateDocument state = root.load().state();
  BOOST_TEST((state.status == Status::kRunning));
  BOOST_TEST(state.pid == init.pid());
  BOOST_TEST(state.id == "web1");
  BOOST_TEST(state.oci_version == "1.3.0");
}

BOOST_AUTO_TEST_CASE(a_zombie_init_is_stopped_and_has_no_pid) {  // as engines rely on
  const Init init;
  const Root root(init);
  init.die_and_stay_a_zombie();
  const bundle::StateDocument state = root.load().state();
  BOOST_TEST((state.status == Status::kStopped));
  BOOST_TEST(state.pid == 0);
}

BOOST_AUTO_TEST_CASE(a_process_with_that_number_but_another_start_or_boot_is_not_init) {
  const Init init;
  Root root(init);
  ++root.record.init_start_time;
  root.commit();
  BOOST_TEST((root.status() == Status::kStopped));
  BOOST_TEST(!kill_container(root.load(), SIGKILL, KillScope::kInit));
  --root.record.init_start_time;
  root.record.boot_id = "00000000-0000-0000-0000-000000000000";
  root.commit();
  BOOST_TEST((root.status() == Status::kStopped));
  BOOST_TEST(!kill_container(root.load(), SIGKILL, KillScope::kInit));
  BOOST_TEST(init.is_alive());
}

// Between the check of a process and a signal to its pid, a process of root may get that pid.
BOOST_AUTO_TEST_CASE(a_dead_init_of_another_users_record_has_no_number_that_a_signal_could_use,
                     *needs_root()) {
  const Init init;
  const Root root(init);
  const std::string directory = root.scratch / "web1";
  BOOST_REQUIRE(::chown(directory.c_str(), 12345, 12345) == 0);
  BOOST_TEST(
      must_fail(Container::load(root.options, kId)).contains("does not belong to user 12345"));
  init.die_and_stay_a_zombie();
  BOOST_TEST(root.load().record().init_pid == 0);
  BOOST_REQUIRE(::chown(directory.c_str(), 0, 0) == 0);
  BOOST_TEST(root.load().record().init_pid == init.pid());
}

// A `start` that is killed after it has released init leaves start.sock behind, and the program
// runs.
BOOST_AUTO_TEST_CASE(a_start_socket_that_was_left_behind_does_not_hide_a_running_program) {
  const Init init;
  const Root root(init);
  const UniqueFd listener = must(root.load().directory().listen_for_start());
  BOOST_TEST((root.status() == Status::kRunning));
}

BOOST_AUTO_TEST_CASE(
    a_container_is_created_while_its_init_has_executed_nothing_and_has_its_socket) {
  const Init init(Init::Phase::kCreated);
  const Root root(init);
  const UniqueFd listener = must(root.load().directory().listen_for_start());
  BOOST_TEST((root.status() == Status::kCreated));
  root.load().directory().forget_start();
  BOOST_TEST((root.status() == Status::kRunning));
}

BOOST_AUTO_TEST_CASE(an_unknown_container_does_not_exist) {  // what engines match
  const Init init;
  const Root root(init);
  const auto other = Container::load(root.options, must(ContainerId::parse("other")));
  BOOST_REQUIRE(!other);
  BOOST_TEST(
      other.error().message() ==
      fmt::format("container does not exist (in the state root {}; --root names another one)",
                  root.scratch.path()));
}

BOOST_AUTO_TEST_CASE(a_damaged_container_tells_how_to_get_rid_of_it_and_force_does) {  // OP-5
  const Init init;
  const Root root(init);
  for (const char* text : {"", "garbage", "{\"format\":1}"}) {
    root.scratch.file("web1/state.json", text);
    const std::string message = must_fail(Container::load(root.options, kId));
    BOOST_TEST(message.find("delete --force web1") != std::string::npos);
    BOOST_TEST(message.find("state.json") != std::string::npos);
  }
  const Log log = must(Log::open(root.options));
  BOOST_TEST(!delete_container(root.options, kId, Force::kNo, log));
  must(delete_container(root.options, kId, Force::kYes, log));
  BOOST_TEST(root.scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(a_container_that_is_being_created_is_told_from_a_damaged_one) {
  const Init init;
  const Root root(init);
  const StateDirectory directory =
      must(must(Store::open(root.options.root, MissingRoot::kIsAnError)).find(kId));
  ::unlink((root.scratch / "web1/state.json").c_str());
  BOOST_TEST(must_fail(Container::load(root.options, kId)).find("incomplete") != std::string::npos);
  BOOST_TEST((state_of_unfinished(directory, kId).status ==
              Status::kUnknown));  // no intent.json names the creator
  bundle::IntentRecord intent;
  intent.record = root.record;
  intent.record.init_pid = 0;
  intent.runtime_pid = init.pid();
  intent.runtime_start_time = init.start_time();
  must(directory.write_intent(intent));
  BOOST_TEST((state_of_unfinished(directory, kId).status == Status::kCreating));
  ++intent.runtime_start_time;  // the creator is dead
  must(directory.write_intent(intent));
  BOOST_TEST((state_of_unfinished(directory, kId).status == Status::kUnknown));
}

BOOST_AUTO_TEST_CASE(a_signal_reaches_a_running_init_and_a_stopped_one_is_not_running) {  // OP-4
  const Init init;
  const Root root(init);
  must(kill_container(root.load(), 0, KillScope::kInit));
  BOOST_TEST(init.is_alive());
  must(kill_container(root.load(), SIGTERM, KillScope::kInit));
  BOOST_TEST(comes_true([&] { return !init.is_alive(); }));
  for (const int signal : {0, SIGTERM, SIGKILL})
    BOOST_TEST(must_fail(kill_container(root.load(), signal, KillScope::kInit)) ==
               "container not running");  // what engines match
}

BOOST_AUTO_TEST_CASE(only_a_stopped_container_is_deleted_without_force) {  // OP-5
  const Init init;
  const Root root(init);
  const Log log = must(Log::open(root.options));
  const std::string text = must_fail(delete_container(root.options, kId, Force::kNo, log));
  BOOST_TEST(text.find("running") != std::string::npos);
  BOOST_TEST(text.find("--force") != std::string::npos);
  BOOST_TEST(init.is_alive());
  init.die_and_stay_a_zombie();
  must(delete_container(root.options, kId, Force::kNo, log));
  BOOST_TEST(root.scratch.names().empty());
  BOOST_TEST(must_fail(delete_container(root.options, kId, Force::kNo, log))
                 .starts_with("container does not exist (in the state root "));
  must(delete_container(root.options, kId, Force::kYes, log));  // containerd deletes twice
}

BOOST_AUTO_TEST_CASE(force_kills_init_and_nobody_who_got_its_number) {  // OP-5
  const Log log = must(Log::open(GlobalOptions{}));
  {
    const Init init;
    const Root root(init);
    must(delete_container(root.options, kId, Force::kYes, log));
    BOOST_TEST(!init.is_alive());
  }
  const Init stranger;
  Root root(stranger);
  ++root.record.init_start_time;
  root.commit();
  must(delete_container(root.options, kId, Force::kYes, log));
  BOOST_TEST(stranger.is_alive());
  BOOST_TEST(root.scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(what_changed_while_we_waited_for_the_lock_is_seen) {
  const Init init;
  Root root(init);
  Container container = root.load();
  root.record.annotations["new"] = "yes";
  root.commit();
  must(container.lock_and_reload());
  BOOST_TEST(container.record().annotations.contains("new"));
}

// `exec` takes no lock, so that a `delete` may remove files of the state directory meanwhile.
BOOST_AUTO_TEST_CASE(a_container_that_is_deleted_before_its_files_are_read_does_not_exist) {
  const Init init;
  const Root root(init);
  const Container container = root.load();
  BOOST_TEST(must_fail(container.config()).contains("delete --force web1"));  // damaged
  BOOST_TEST(must_fail(container.filter_bytes()).contains("delete --force web1"));
  std::filesystem::remove(root.scratch / "web1/state.json");
  BOOST_TEST(must_fail(container.config()) == "container does not exist");
  BOOST_TEST(must_fail(container.filter_bytes()) == "container does not exist");
}

BOOST_AUTO_TEST_CASE(a_container_that_was_deleted_while_we_waited_does_not_exist) {
  const Init init;
  const Root root(init);
  Container container = root.load();
  must(root.load().directory().remove());
  BOOST_TEST(must_fail(container.lock_and_reload()) == "container does not exist");
}

BOOST_AUTO_TEST_SUITE_END()
