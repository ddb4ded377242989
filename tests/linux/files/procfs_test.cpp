#include "linux/files/procfs.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include "linux/base/syscalls.hpp"
#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

using Subset = Procfs::Subset;

void cover(const char* path) { must(sys::mount("tmpfs", path, "tmpfs", 0, nullptr)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(procfs)

OCIRUN_CHILD_TEST(a_handle_is_not_covered_by_mounts_on_proc,
                  CLONE_NEWNS) {  // CVE-2019-16884, CVE-2025-52881
  const Procfs procfs = must(Procfs::open(Subset::kFull));
  cover("/proc/sys");
  BOOST_TEST(!must(procfs.read("sys/kernel/ostype")).empty());
  cover("/proc");
  BOOST_TEST(must(procfs.read("self/comm")).ends_with("\n"));
  BOOST_TEST(must(must(Procfs::open(Subset::kProcesses)).read("self/comm")).ends_with("\n"));
}

OCIRUN_CHILD_TEST(the_narrow_handle_has_processes_and_nothing_else, CLONE_NEWNS) {
  const Procfs procfs = must(Procfs::open(Subset::kProcesses));
  BOOST_TEST(must(procfs.read("self/stat")).starts_with(std::to_string(::getpid()) + " "));
  BOOST_TEST(procfs.read("sys/kernel/ostype").error().number() == ENOENT);
  BOOST_TEST(procfs.read("meminfo").error().number() == ENOENT);
}

OCIRUN_CHILD_TEST(self_is_the_number_of_the_handles_own_namespace, CLONE_NEWNS | CLONE_NEWPID) {
  BOOST_TEST(::getpid() == 1);
  BOOST_TEST(must(must(Procfs::open(Subset::kProcesses)).read("self/stat")).starts_with("1 "));
}

OCIRUN_CHILD_TEST(symlinks_and_parents_are_never_followed, CLONE_NEWNS) {
  const Procfs procfs = must(Procfs::open(Subset::kFull));
  for (const char* path : {"self/cwd", "self/fd/0", "self/root/etc/passwd", "mounts"})
    BOOST_TEST(!procfs.open_file(path, O_PATH | O_DIRECTORY), path);
  BOOST_TEST(!procfs.open_file("../etc/passwd", O_RDONLY));
  BOOST_TEST(!procfs.open_file("self/../../etc/passwd", O_RDONLY));
}

OCIRUN_CHILD_TEST(without_a_mount_of_our_own_a_covered_file_is_found_out,
                  CLONE_NEWNS | CLONE_NEWUSER) {
  // In this user namespace the covered /proc/sys makes the kernel refuse a new procfs.
  cover("/proc/sys");
  const Procfs procfs = must(Procfs::open(Subset::kFull));
  if (must(sys::mount_id(procfs.fd(), "sys")) == must(sys::mount_id(procfs.fd()))) {
    BOOST_TEST_MESSAGE("this kernel gave a procfs all the same");
    return;
  }
  BOOST_TEST(procfs.read("sys/kernel/ostype").error().number() == EXDEV);
  BOOST_TEST(must(procfs.read("self/comm")).ends_with("\n"));
}

OCIRUN_CHILD_TEST(a_file_of_procfs_at_the_wrong_place_is_found_out,
                  CLONE_NEWNS) {  // CVE-2025-52881
  must(sys::mount("/proc/sys/net", "/proc/sys/kernel", nullptr, MS_BIND, nullptr));
  for (const bool has_openat2 : {true, false})
    BOOST_TEST(run_in_child(CLONE_NEWNS, [has_openat2] {
                 refuse_system_calls({SYS_fsopen});
                 if (!has_openat2) refuse_system_calls({SYS_openat2});
                 const Procfs procfs = must(Procfs::open(Subset::kFull));
                 const auto file = procfs.open_file("sys/kernel/core", O_PATH);
                 BOOST_TEST(file.error().number() == EXDEV);
                 BOOST_TEST(procfs.open_file("sys/vm", O_PATH).has_value());
                 BOOST_TEST(procfs.read("self/comm").has_value());
               }) == 0);
}

OCIRUN_CHILD_TEST(a_faked_proc_is_not_taken_for_one, CLONE_NEWNS | CLONE_NEWUSER) {
  // No own instance (the pid namespace is foreign), and /proc is something else.
  cover("/proc");
  const auto procfs = Procfs::open(Subset::kProcesses);
  BOOST_TEST(must_fail(procfs).find("not the root of a procfs") != std::string::npos);
}

OCIRUN_CHILD_TEST(the_hosts_procfs_is_verified_and_a_covered_file_is_refused, CLONE_NEWNS) {
  const Procfs procfs = must(Procfs::of_host());
  BOOST_TEST(must(procfs.read("self/stat")).starts_with(std::to_string(::getpid()) + " "));
  must(sys::mount("/proc/sys/net", "/proc/self/fdinfo", nullptr, MS_BIND, nullptr));
  BOOST_TEST(procfs.open_file("self/fdinfo", O_PATH).error().number() == EXDEV);
  const auto is_refused = [] {
    return must_fail(Procfs::of_host()).find("not the root of a procfs") != std::string::npos;
  };
  must(sys::mount("/proc/sys", "/proc", nullptr, MS_BIND, nullptr));
  BOOST_TEST(is_refused());  // a procfs, but not its root
  cover("/proc");
  BOOST_TEST(is_refused());
}

OCIRUN_CHILD_TEST(a_procfs_on_demand_is_opened_once_and_not_before, CLONE_NEWNS) {
  const Procfs given = must(Procfs::open(Subset::kProcesses));
  const Descriptors before = open_descriptors();
  ProcfsOnDemand own;
  ProcfsOnDemand lent(given);
  BOOST_TEST(open_descriptors() == before);
  const Procfs* opened = must(own.get());
  BOOST_TEST(open_descriptors().count() == before.count() + 1);
  BOOST_TEST(must(own.get()) == opened);
  BOOST_TEST(opened->read("meminfo").error().number() == ENOENT);
  BOOST_TEST(must(lent.get()) == &given);
}

OCIRUN_CHILD_TEST(a_path_descriptor_becomes_a_real_one, CLONE_NEWNS) {
  const Procfs procfs = must(Procfs::open(Subset::kProcesses));
  const UniqueFd path = must(sys::open("/etc/passwd", O_PATH));
  BOOST_TEST(!must(sys::read_all(must(procfs.reopen(path, O_RDONLY)), 1 << 20)).empty());
  BOOST_TEST(must(procfs.path_of(path)) == "/etc/passwd");
}

OCIRUN_CHILD_TEST(a_write_reaches_the_file_whole, CLONE_NEWNS | CLONE_NEWUTS) {
  must(must(Procfs::open(Subset::kFull)).write("sys/kernel/hostname", "ocirun-test"));
  BOOST_TEST(must(must(Procfs::open(Subset::kFull)).read("sys/kernel/hostname")) ==
             "ocirun-test\n");
}

BOOST_AUTO_TEST_CASE(a_process_is_known_by_state_and_start_time) {
  const ProcessStat self = must(read_process_stat(::getpid()));
  BOOST_TEST(self.has_executed);
  BOOST_TEST(self.state == 'R');
  BOOST_TEST(self.start_time > 0u);
  BOOST_TEST(must(read_process_stat(1)).start_time <= self.start_time);
  BOOST_TEST(read_process_stat(0x7FFFFFFF).error().number() == ENOENT);
}

// Its file can be opened before the process ends, and be read afterwards.
OCIRUN_CHILD_TEST(a_process_that_ends_meanwhile_is_no_process, 0) {
  constexpr int kRounds = 200;
  ::signal(SIGCHLD, SIG_IGN);  // nobody has to reap the children
  for (int round = 0; round < kRounds; ++round) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    for (auto stat = read_process_stat(child);; stat = read_process_stat(child))
      if (!stat) {
        BOOST_REQUIRE_EQUAL(stat.error().number(), ENOENT);
        break;
      }
  }
}

// The child is process 1 of a new pid namespace, and /proc still shows the host's process 1.
OCIRUN_CHILD_TEST(a_proc_of_another_pid_namespace_says_nothing_about_a_pid,
                  CLONE_NEWNS | CLONE_NEWPID) {
  BOOST_REQUIRE(::getpid() == 1);
  const auto stat = read_process_stat(1);
  BOOST_REQUIRE(!stat);
  BOOST_TEST(stat.error().message().contains("/proc belongs to another pid namespace"));
}

BOOST_AUTO_TEST_CASE(the_text_of_a_process_is_read_whatever_its_name_is) {
  const std::string rest = " 12 12 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n";
  const auto plain = parse_process_stat("12 (sleep) S 7" + rest);
  BOOST_REQUIRE(plain);
  BOOST_TEST(plain->state == 'S');
  BOOST_TEST(plain->parent == 7);
  BOOST_TEST(plain->start_time == 777U);
  BOOST_TEST(!plain->has_executed);
  BOOST_TEST(!plain->is_exiting);
  BOOST_TEST(plain->threads == 1);
  const auto hostile = parse_process_stat("12 (a) S 9) (b)) R 0" + rest);
  BOOST_REQUIRE(hostile);
  BOOST_TEST(hostile->state == 'R');
  BOOST_TEST(hostile->parent == 0);
  for (const char* text : {"", "12 (cut", "12 (cut)", "12 (cut) S 7 12 12", "no parenthesis"})
    BOOST_TEST(!parse_process_stat(text));
}

OCIRUN_CHILD_TEST(a_clone_that_has_not_executed_a_program_is_told, 0) {
  BOOST_TEST(!must(read_process_stat(::getpid())).has_executed);
}

BOOST_AUTO_TEST_CASE(names_below_proc_are_told_from_names_beside_it) {
  BOOST_TEST(name_in_proc("/proc").value() == "");
  BOOST_TEST(name_in_proc("/proc/sys/kernel").value() == "sys/kernel");
  BOOST_TEST(!name_in_proc("/process"));
  BOOST_TEST(!name_in_proc("/"));
}

BOOST_AUTO_TEST_SUITE_END()
