#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <csignal>
#include "hooks/run_hook.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/id_map.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/init/executable.hpp"
#include "runtime/protocol/protocol.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/store.hpp"
#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

// Each comment tells the bug that its test was written for; the bugs are mended.
BOOST_AUTO_TEST_SUITE(found_by_a_fresh_reader)

// 1 runtime/state/store.cpp Store::open refused the host's root only when it was spelled "/".
BOOST_AUTO_TEST_CASE(the_root_of_the_host_is_no_state_root_however_it_is_spelled) {
  for (const char* path : {"/.", "/..", "/tmp/..", "//."})
    BOOST_CHECK_MESSAGE(!Store::open(HostPath(path), MissingRoot::kIsAnError), path);
}

// 2 runtime/commands/kill.cpp, runtime/state/container.cpp: root may work on another user's state
// root, but only if the pid and the cgroups in the record belong to that user. The pid was not
// checked.
BOOST_AUTO_TEST_CASE(a_users_state_file_does_not_make_root_signal_somebody_elses_process) {
  const Scratch scratch;
  ::chmod(scratch.path().c_str(), 0755);
  const std::string root = scratch / "root";
  BOOST_REQUIRE(::mkdir(root.c_str(), 0700) == 0);
  const pid_t victim = ::fork();  // root's own
  if (victim == 0)
    for (;;) ::pause();
  bundle::ContainerRecord record;
  record.id = "web1";
  record.init_pid = victim;
  record.init_start_time = must(linux::read_process_stat(victim)).start_time;
  record.boot_id = slurp("/proc/sys/kernel/random/boot_id");
  record.boot_id.pop_back();
  record.cgroup_manager = cgroups::Manager::kDisabled;
  record.own_pid_namespace = true;
  GlobalOptions options;
  options.root = HostPath(root);
  const ContainerId id = must(ContainerId::parse("web1"));
  const StateDirectory directory =
      must(must(Store::open(options.root, MissingRoot::kIsAnError)).create(id));
  must(directory.commit(record));
  for (const char* name : {"", "/web1", "/web1/state.json"})
    BOOST_REQUIRE(::chown((root + name).c_str(), 12345, 12345) == 0);
  const auto container = Container::load(options, id);
  if (container) BOOST_TEST(!kill_container(*container, SIGKILL, KillScope::kInit));
  ::usleep(50'000);
  BOOST_TEST(must(linux::read_process_stat(victim)).state != 'Z');
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
}

// 3 linux/namespaces/id_map.cpp check_id_mappings: the kernel takes only a text shorter than a page
// (map_write: count >= PAGE_SIZE is EINVAL). 340 realistic lines were accepted and failed later
// with "write uid_map: invalid argument".
BOOST_AUTO_TEST_CASE(maps_whose_text_does_not_fit_a_page_are_refused_with_a_sentence) {
  std::vector<linux::IdMapping> mappings;
  for (std::uint32_t i = 0; i < 340; ++i) mappings.push_back({i * 2, 1000000 + i * 2, 1});
  BOOST_TEST(!linux::check_id_mappings(mappings));
}

// 4 runtime/protocol/protocol.cpp error_bytes kept only the beginning of an error longer than a
// packet. The end of a hook's output of 64 KiB, which run_hook keeps on purpose, was lost.
BOOST_AUTO_TEST_CASE(the_last_words_of_a_talkative_hook_survive_the_socket) {
  const Error error(0, "error running createContainer hook #0 (/h): exit status 1: " +
                           std::string(64 * 1024 - 8, 'x') + "\nreason");
  BOOST_TEST(parse_error_bytes(error_bytes(error)).message().ends_with("reason"));
}

// 5 runtime/init/executable.cpp next_field missed an empty entry at the end of PATH. execvp(3)
// takes an empty entry for the working directory at every place of PATH.
BOOST_AUTO_TEST_CASE(an_empty_entry_at_the_end_of_path_is_the_working_directory) {
  const Scratch scratch;
  scratch.script("tool", "exit 0");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chdir(scratch.path().c_str()) == 0);
               BOOST_TEST(must(find_executable("tool", {"PATH=/bin:"}, "")) == "./tool");
             }) == 0);
}

// 6 linux/base/file_io.cpp replace_file: for a name of 248 bytes and more, the temporary name
// ".NAME.PID" was longer than NAME_MAX.
BOOST_AUTO_TEST_CASE(a_file_may_have_the_longest_name_there_is) {
  const Scratch scratch;
  const auto replaced = linux::replace_file(scratch.open(), std::string(255, 'n'), "x", 0600);
  BOOST_TEST(replaced.has_value());
}

// 7 linux/base/message_socket.cpp receive took an empty packet for the end of the stream, and left
// the packet's descriptors open. The error of an empty packet is EBADMSG.
BOOST_AUTO_TEST_CASE(an_empty_packet_leaks_no_descriptor) {
  auto pair = must(linux::MessageSocket::make_pair());
  msghdr header{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = 2;
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  BOOST_REQUIRE(::sendmsg(pair.first.fd().value, &header, 0) == 0);
  const Descriptors before = open_descriptors();
  {
    const auto packet = pair.second.receive();
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
