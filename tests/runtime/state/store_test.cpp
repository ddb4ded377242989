#include "runtime/state/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using std::chrono::milliseconds;

namespace {

using Names = std::vector<std::string>;

ContainerId id(std::string_view text = "web1") { return must(ContainerId::parse(text)); }

bundle::ContainerRecord record(std::string name = "web1") {
  bundle::ContainerRecord record;
  record.id = std::move(name);
  record.oci_version = "1.3.0";
  record.bundle = "/bundles/web1";
  record.rootfs = "/bundles/web1/rootfs";
  record.created = "2026-01-02T03:04:05.000000006Z";
  record.init_pid = 4711;
  record.init_start_time = 12345678901234ULL;
  record.boot_id = "b";
  record.cgroup_manager = cgroups::Manager::kDisabled;
  record.annotations = {{"key", "value \" \n ü"}};
  return record;
}

Store store_in(const Scratch& scratch) {
  return must(Store::open(HostPath(scratch.path()), MissingRoot::kIsAnError));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(store)

// --- the root

BOOST_AUTO_TEST_CASE(the_root_of_the_host_is_no_state_root) {
  for (const char* path : {"/", "//", "///", ""})
    for (const MissingRoot missing :
         {MissingRoot::kIsCreated, MissingRoot::kIsAnError, MissingRoot::kIsEmpty})
      BOOST_TEST(!Store::open(HostPath(path), missing));
}

BOOST_AUTO_TEST_CASE(a_missing_root_is_made_for_its_owner_alone_whatever_the_umask) {
  const Scratch scratch;
  const mode_t old = ::umask(0);
  must(Store::open(HostPath(scratch / "a/b/root"), MissingRoot::kIsCreated));
  must(Store::open(HostPath(scratch / "with-a-slash//"), MissingRoot::kIsCreated));
  ::umask(old);
  BOOST_TEST((mode_of(scratch / "with-a-slash") & 0777) == 0700);
  BOOST_TEST((mode_of(scratch / "a/b/root") & 0777) == 0700);
  BOOST_TEST((mode_of(scratch / "a") & 022) == 0);
  BOOST_TEST((mode_of(scratch / "a/b") & 022) == 0);
  // A state root that exists already is no error.
  must(Store::open(HostPath(scratch / "a/b/root"), MissingRoot::kIsCreated));
}

BOOST_AUTO_TEST_CASE(a_missing_root_is_an_error_where_the_user_named_it_and_else_has_nothing) {
  const Scratch scratch;
  const HostPath missing(scratch / "missing");
  const auto opened = Store::open(missing, MissingRoot::kIsAnError);
  BOOST_REQUIRE(!opened);
  BOOST_TEST(opened.error().number() == ENOENT);
  const Store empty = must(Store::open(missing, MissingRoot::kIsEmpty));
  BOOST_TEST(must(empty.ids()).empty());
  BOOST_TEST(
      must_fail(empty.find(id())).starts_with("container does not exist (in the state root "));
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_directory_is_no_root) {
  const Scratch scratch;
  const std::string file = scratch.file("file", "");
  for (const MissingRoot missing :
       {MissingRoot::kIsCreated, MissingRoot::kIsAnError, MissingRoot::kIsEmpty}) {
    BOOST_TEST(Store::open(HostPath(file), missing).error().number() == ENOTDIR);
    BOOST_TEST(Store::open(HostPath(file + "/below"), missing).error().number() == ENOTDIR);
  }
}

BOOST_AUTO_TEST_CASE(a_root_that_others_may_write_is_refused) {
  const Scratch scratch;
  const std::string root = scratch / "root";
  BOOST_REQUIRE(::mkdir(root.c_str(), 0700) == 0);
  for (const mode_t mode : {mode_t{0770}, mode_t{0707}, mode_t{0777}, mode_t{0720}, mode_t{0702}}) {
    BOOST_REQUIRE(::chmod(root.c_str(), mode) == 0);
    const std::string text = must_fail(Store::open(HostPath(root), MissingRoot::kIsCreated));
    BOOST_TEST(text.find(root) != std::string::npos);
  }
  for (const mode_t mode : {mode_t{0700}, mode_t{0755}, mode_t{0750}, mode_t{01700}}) {
    BOOST_REQUIRE(::chmod(root.c_str(), mode) == 0);
    must(Store::open(HostPath(root), MissingRoot::kIsAnError));
  }
}

BOOST_AUTO_TEST_CASE(a_sticky_root_that_all_may_write_is_refused_to_root, *needs_root()) {
  const Scratch scratch;
  const std::string root = scratch / "root";
  BOOST_REQUIRE(::mkdir(root.c_str(), 0700) == 0);
  BOOST_REQUIRE(::chmod(root.c_str(), 01777) == 0);
  BOOST_REQUIRE(::chown(root.c_str(), 12345, 12345) == 0);  // sticky, but not root's
  must_fail(Store::open(HostPath(root), MissingRoot::kIsAnError));
}

BOOST_AUTO_TEST_CASE(a_sticky_root_of_roots_is_shared_and_each_user_sees_their_own_containers,
                     *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::chmod(scratch.path().c_str(), 0755) == 0);
  const std::string root = scratch / "shared";
  BOOST_REQUIRE(::mkdir(root.c_str(), 0700) == 0);
  BOOST_REQUIRE(::chmod(root.c_str(), 01777) == 0);
  const auto open = [&] { return must(Store::open(HostPath(root), MissingRoot::kIsAnError)); };
  const auto id = [](const char* text) { return must(ContainerId::parse(text)); };
  must(open().create(id("of-root")));
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setuid(12345) == 0);
               must(open().create(id("of-user")));
               BOOST_TEST(must_fail(open().create(id("of-root"))) ==
                          "container with given ID already exists: of-root: it belongs to user 0");
               BOOST_REQUIRE(::mkdir((root + "/open").c_str(), 0777) == 0);
               BOOST_REQUIRE(::symlink("of-user", (root + "/link").c_str()) == 0);
             }) == 0);
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setuid(12346) == 0);
               BOOST_TEST(must(open().ids()).empty());
               for (const char* name : {"of-user", "of-root", "open"}) {
                 const std::string text = must_fail(open().find(id(name)));
                 BOOST_TEST(text.find("is not yours: it belongs to user") != std::string::npos);
               }
               BOOST_TEST(
                   must_fail(open().find(id("missing"))).starts_with("container does not exist"));
             }) == 0);
  const std::vector<std::string> all{"of-root", "of-user", "open"};
  BOOST_TEST(must(open().ids()) == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_root_of_somebody_else_is_refused_but_to_the_hosts_root, *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::chmod(scratch.path().c_str(), 0755) == 0);
  const std::string theirs = scratch / "theirs";
  BOOST_REQUIRE(::mkdir(theirs.c_str(), 0755) == 0);
  BOOST_REQUIRE(::chown(theirs.c_str(), 12345, 12345) == 0);
  must(Store::open(HostPath(theirs), MissingRoot::kIsAnError));  // root does so under Slurm
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setuid(12346) == 0);
               const std::string text =
                   must_fail(Store::open(HostPath(theirs), MissingRoot::kIsAnError));
               BOOST_TEST(text.find("12345") != std::string::npos);
               BOOST_TEST(text.find("--root") != std::string::npos);
             }) == 0);
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setuid(12345) == 0);
               must(Store::open(HostPath(theirs), MissingRoot::kIsAnError));
             }) == 0);
}

// --- directories of containers

BOOST_AUTO_TEST_CASE(an_id_is_taken_once_and_can_be_taken_again_after_it_was_removed) {  // OP-2
  const Scratch scratch;
  const Store store = store_in(scratch);
  const StateDirectory first = must(store.create(id()));
  BOOST_TEST(mode_of(scratch / "web1") == 0700);
  BOOST_TEST(must_fail(store.create(id())).find("already exists") != std::string::npos);
  must(first.remove());
  must(must(store.create(id())).remove());
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(of_many_that_create_the_same_id_at_once_one_wins) {  // OP-2
  const Scratch scratch;
  const Store store = store_in(scratch);
  int gate[2];
  BOOST_REQUIRE(::pipe(gate) == 0);
  std::vector<pid_t> pids;
  for (int i = 0; i < 10; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      char byte = 0;
      ::close(gate[1]);
      if (::read(gate[0], &byte, 1) < 0) ::_exit(9);
      ::_exit(store.create(id()) ? 1 : 0);
    }
    pids.push_back(pid);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  int winners = 0;
  for (const pid_t pid : pids) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    winners += WEXITSTATUS(status);
  }
  BOOST_TEST(winners == 1);
}

BOOST_AUTO_TEST_CASE(an_id_that_is_not_there_does_not_exist_and_a_symlink_is_not_followed) {
  const Scratch scratch;
  const Store store = store_in(scratch);
  const std::string text = must_fail(store.find(id()));
  BOOST_TEST(text.starts_with("container does not exist"));  // what containerd matches
  BOOST_REQUIRE(::symlink("/etc", (scratch / "link").c_str()) == 0);
  scratch.file("file", "");
  BOOST_TEST(!store.find(id("link")));
  BOOST_TEST(!store.create(id("link")));
  BOOST_TEST(!store.find(id("file")));
}

BOOST_AUTO_TEST_CASE(the_list_is_sorted_and_has_ids_only) {
  const Scratch scratch;
  const Store store = store_in(scratch);
  for (const char* name : {"zeta", "alpha", "Beta", "a.b", "10", "9"}) must(store.create(id(name)));
  scratch.file(".tmp", "");
  BOOST_REQUIRE(::mkdir((scratch / "with space").c_str(), 0700) == 0);
  const Names expected{"10", "9", "Beta", "a.b", "alpha", "zeta"};
  for (int again = 0; again < 2; ++again)  // the directory is read from its beginning each time
    BOOST_TEST(must(store.ids()) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(removing_takes_every_file_and_twice_is_no_error) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  must(directory.commit(record()));
  must(directory.write_config("{}"));
  const UniqueFd socket = must(directory.listen_for_start());
  scratch.file("web1/.state.json.4711", "half");  // a commit that was killed leaves such a file
  BOOST_TEST(directory.exists());
  must(directory.remove());
  BOOST_TEST(!directory.exists());
  BOOST_TEST(scratch.names().empty());
  must(directory.remove());
  // A new directory of the same name is another container's.
  const StateDirectory next = must(store_in(scratch).create(id()));
  BOOST_TEST(next.exists());
  BOOST_TEST(!directory.exists());
}

OCIRUN_CHILD_TEST(the_known_files_are_removed_without_a_new_descriptor, 0) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  must(directory.commit(record()));
  const UniqueFd socket = must(directory.listen_for_start());
  const rlimit none{0, 0};
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  must(directory.remove());
  BOOST_TEST(!directory.exists());
}

// --- files

BOOST_AUTO_TEST_CASE(the_record_is_read_as_it_was_written) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  must(directory.commit(record()));
  BOOST_TEST(mode_of(scratch / "web1/state.json") == 0600);
  const bundle::ContainerRecord read = must(must(store_in(scratch).find(id())).read_record());
  BOOST_TEST(read.id == "web1");
  BOOST_TEST(read.init_pid == 4711);
  BOOST_TEST(read.init_start_time == 12345678901234ULL);
  BOOST_TEST(read.annotations.at("key") == "value \" \n ü");
  BOOST_TEST(read.created == record().created);
  BOOST_TEST((Names{"state.json"} == [&] {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "web1"))
      names.push_back(entry.path().filename());
    return names;
  }()));
}

BOOST_AUTO_TEST_CASE(before_the_commit_there_is_no_record) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  BOOST_TEST(directory.read_record().error().number() == ENOENT);
  BOOST_TEST(directory.read_intent().error().number() == ENOENT);
  BOOST_TEST(directory.read_config().error().number() == ENOENT);
  BOOST_TEST(directory.exists());
}

BOOST_AUTO_TEST_CASE(the_intent_and_the_config_are_kept_for_later_commands) {  // D-9
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  bundle::IntentRecord intent;
  intent.runtime_pid = 815;
  intent.runtime_start_time = 42;
  must(directory.write_intent(intent));
  BOOST_TEST(slurp(scratch / "web1/intent.json").find("815") != std::string::npos);
  BOOST_TEST(mode_of(scratch / "web1/intent.json") == 0600);
  const std::string config = "{ \"ociVersion\": \"1.3.0\" }\n\t ";
  must(directory.write_config(config));
  BOOST_TEST(must(directory.read_config()) == config);
  BOOST_TEST(mode_of(scratch / "web1/config.json") == 0600);
}

BOOST_AUTO_TEST_CASE(a_damaged_record_is_an_error_and_the_container_still_exists) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  const std::string good = bundle::record_text(record());
  std::vector<std::string> damaged{"",
                                   " ",
                                   "{}",
                                   "[]",
                                   "null",
                                   "\"\"",
                                   "garbage",
                                   std::string(1000, '\0'),
                                   good.substr(0, good.size() / 2),
                                   good + good,
                                   good + "x",
                                   std::string(1, '\0') + good,
                                   std::string(5'000'000, '['),
                                   std::string(17 * 1024 * 1024, ' ')};
  // Records that are valid JSON with an impossible value.
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"4711", "-1"},
                                 {"4711", "4711.5"},
                                 {"4711", "99999999999999999999"},
                                 {"4711", "\"4711\""},
                                 {"\"format\"", "\"unknown\""}}) {
    std::string text = good;
    const std::size_t at = text.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    damaged.push_back(text.replace(at, from.size(), to));
  }
  for (const std::string& text : damaged) {
    scratch.file("web1/state.json", text);
    const auto read = directory.read_record();
    BOOST_TEST_CONTEXT(text.substr(0, 60)) {
      BOOST_REQUIRE(!read);
      BOOST_TEST(read.error().number() != ENOENT);  // ENOENT means "is being created"
      BOOST_TEST(read.error().message().find("state.json") != std::string::npos);
      BOOST_TEST(directory.exists());
    }
  }
  must(directory.remove());
}

BOOST_AUTO_TEST_CASE(something_else_in_the_records_place_is_an_error_and_never_a_wait) {
  BOOST_TEST(run_in_child(0, [] {
               ::alarm(kHangSeconds);
               const Scratch scratch;
               const StateDirectory directory = must(store_in(scratch).create(id()));
               const std::string path = scratch / "web1/state.json";
               BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
               BOOST_TEST(!directory.read_record());
               ::unlink(path.c_str());
               BOOST_REQUIRE(::mkdir(path.c_str(), 0700) == 0);
               BOOST_TEST(!directory.read_record());
               ::rmdir(path.c_str());
               BOOST_REQUIRE(::symlink("/dev/zero", path.c_str()) == 0);
               BOOST_TEST(!directory.read_record());
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_reader_sees_one_commit_or_the_other_and_never_a_part) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  bundle::ContainerRecord small = record();
  bundle::ContainerRecord large = record();
  for (int i = 0; i < 2000; ++i) large.annotations["key" + std::to_string(i)] = "value";
  must(directory.commit(small));
  const pid_t writer = ::fork();
  if (writer == 0)
    for (unsigned i = 0;; ++i)
      if (!directory.commit(i % 2 == 0 ? large : small)) ::_exit(1);
  std::size_t damaged = 0;
  for (int i = 0; i < 100; ++i) {
    const auto read = directory.read_record();
    if (!read || (read->annotations.size() != 1 && read->annotations.size() != 2001)) ++damaged;
  }
  ::kill(writer, SIGKILL);
  int status = 0;
  ::waitpid(writer, &status, 0);
  BOOST_TEST(WIFSIGNALED(status));  // the writer had not failed before
  BOOST_TEST(damaged == 0u);
}

// --- the lock

BOOST_AUTO_TEST_CASE(two_processes_do_not_hold_the_lock_at_once_and_the_wait_is_bounded) {
  const Scratch scratch;
  must(store_in(scratch).create(id()));
  int ready[2];
  BOOST_REQUIRE(::pipe(ready) == 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const StateDirectory directory = must(store_in(scratch).find(id()));
    const bool locked = directory.lock(milliseconds(0)).has_value();
    if (::write(ready[1], locked ? "y" : "n", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  BOOST_REQUIRE(::read(ready[0], &byte, 1) == 1);
  BOOST_TEST(byte == 'y');
  const StateDirectory directory = must(store_in(scratch).find(id()));
  const double waited = seconds_of([&] {
    const auto locked = directory.lock(milliseconds(300));
    BOOST_REQUIRE(!locked);
    BOOST_TEST(locked.error().number() == EBUSY);
    BOOST_TEST(locked.error().message().find("0.3 s") != std::string::npos);
  });
  BOOST_TEST(waited >= 0.3);
  BOOST_TEST(waited < std::chrono::duration<double>(kLockPatience).count());  // the default limit
  // The lock ends with the process that held it.
  ::kill(holder, SIGKILL);
  must(directory.lock(std::chrono::seconds(kHangSeconds)));
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

BOOST_AUTO_TEST_CASE(who_waits_gets_the_lock_when_it_is_given_back) {
  const Scratch scratch;
  const StateDirectory mine = must(store_in(scratch).create(id()));
  must(mine.lock(milliseconds(0)));
  const pid_t waiter = ::fork();
  if (waiter == 0) {
    const StateDirectory theirs = must(store_in(scratch).find(id()));
    ::_exit(theirs.lock(std::chrono::seconds(kHangSeconds)) ? 7 : 8);
  }
  ::usleep(100'000);
  int status = 0;
  BOOST_TEST(::waitpid(waiter, &status, WNOHANG) == 0);
  mine.unlock();
  BOOST_TEST(::waitpid(waiter, &status, 0) == waiter);
  BOOST_TEST(WEXITSTATUS(status) == 7);
}

BOOST_AUTO_TEST_CASE(the_lock_goes_with_the_object_that_took_it) {
  const Scratch scratch;
  must(store_in(scratch).create(id()));
  {
    const StateDirectory first = must(store_in(scratch).find(id()));
    must(first.lock(milliseconds(0)));
    must(first.lock(milliseconds(0)));  // the holder may lock again
    BOOST_TEST(!must(store_in(scratch).find(id())).lock(milliseconds(0)));
  }
  must(must(store_in(scratch).find(id())).lock(milliseconds(0)));
}

BOOST_AUTO_TEST_CASE(reading_and_listing_take_no_lock) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  must(directory.commit(record()));
  must(directory.lock(milliseconds(0)));
  BOOST_TEST(must(must(store_in(scratch).find(id())).read_record()).id == "web1");
  BOOST_TEST(must(store_in(scratch).ids()).size() == 1u);
}

// --- the start socket

BOOST_AUTO_TEST_CASE(the_start_socket_is_there_from_listening_until_it_is_forgotten) {
  const Scratch scratch;
  const StateDirectory directory = must(store_in(scratch).create(id()));
  BOOST_TEST(!directory.awaits_start());
  BOOST_TEST(!directory.connect_to_start());
  {
    const UniqueFd listener = must(directory.listen_for_start());
    BOOST_TEST((::fcntl(listener.get(), F_GETFD) & FD_CLOEXEC) != 0);
    BOOST_TEST(directory.awaits_start());
    BOOST_TEST(!directory.listen_for_start());  // the socket exists already
    const UniqueFd connection = must(directory.connect_to_start());
    BOOST_TEST((::fcntl(connection.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  BOOST_TEST(directory.connect_to_start().error().number() == ECONNREFUSED);  // init is dead
  directory.forget_start();
  directory.forget_start();
  BOOST_TEST(!directory.awaits_start());
}

BOOST_AUTO_TEST_CASE(a_state_root_may_be_longer_than_the_name_of_a_socket) {  // sun_path: 108
  const Scratch scratch;
  const std::string root = scratch / (std::string(100, 'r') + "/" + std::string(100, 's'));
  const StateDirectory directory = must(
      must(Store::open(HostPath(root), MissingRoot::kIsCreated)).create(id(std::string(255, 'i'))));
  const UniqueFd listener = must(directory.listen_for_start());
  const UniqueFd connection = must(directory.connect_to_start());
  BOOST_TEST(directory.awaits_start());
}

BOOST_AUTO_TEST_SUITE_END()
