// The system calls of the processes that read archives. Each call is made in a fork of the test.

#include "pods/images/unpack/confinement.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <utility>

#include "tests/linux/confined/confined.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr ArchiveWork kWorks[] = {ArchiveWork::kIndex, ArchiveWork::kUnpack};

Said say_filtered(ArchiveWork work, const std::function<std::string()>& look) {
  return say_confined(
      [work](Fd) -> Result<void> {
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "no_new_privs");
        return allow_calls(work);
      },
      look);
}

bool ends_by(ArchiveWork work, long number, long first = -1, long second = 0, long third = 0) {
  const Said said = say_filtered(work, [&] {
    ::syscall(number, first, second, third, 0, 0, 0);
    return std::string("went on");
  });
  return said.text.empty() && WIFSIGNALED(said.status) && WTERMSIG(said.status) == SIGSYS;
}

std::string errno_of(long outcome) { return outcome >= 0 ? "done" : errno_text(errno); }

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_calls)

BOOST_AUTO_TEST_CASE(a_call_that_gets_power_ends_both_processes) {
  constexpr std::pair<const char*, long> kCalls[] = {
      {"mount", SYS_mount},
      {"umount2", SYS_umount2},
      {"move_mount", SYS_move_mount},
      {"fsopen", SYS_fsopen},
      {"fsmount", SYS_fsmount},
      {"fspick", SYS_fspick},
      {"fsconfig", SYS_fsconfig},
      {"open_tree", SYS_open_tree},
      {"pivot_root", SYS_pivot_root},
      {"chroot", SYS_chroot},
      {"setns", SYS_setns},
      {"unshare", SYS_unshare},
      {"clone", SYS_clone},
      {"clone3", SYS_clone3},
      {"execve", SYS_execve},
      {"execveat", SYS_execveat},
      {"ptrace", SYS_ptrace},
      {"process_vm_readv", SYS_process_vm_readv},
      {"process_vm_writev", SYS_process_vm_writev},
      {"pidfd_open", SYS_pidfd_open},
      {"kill", SYS_kill},
      {"bpf", SYS_bpf},
      {"perf_event_open", SYS_perf_event_open},
      {"userfaultfd", SYS_userfaultfd},
      {"io_uring_setup", SYS_io_uring_setup},
      {"keyctl", SYS_keyctl},
      {"add_key", SYS_add_key},
      {"name_to_handle_at", SYS_name_to_handle_at},
      {"open_by_handle_at", SYS_open_by_handle_at},
      {"init_module", SYS_init_module},
      {"finit_module", SYS_finit_module},
      {"kexec_load", SYS_kexec_load},
      {"socket", SYS_socket},
      {"ioctl", SYS_ioctl},
      {"prctl", SYS_prctl},
      {"setuid", SYS_setuid},
      {"quotactl", SYS_quotactl},
      {"swapon", SYS_swapon},
      {"sethostname", SYS_sethostname},
      {"personality", SYS_personality},
      {"memfd_create", SYS_memfd_create},
      {"shmget", SYS_shmget},
      {"reboot", SYS_reboot},
  };
  for (const ArchiveWork work : kWorks)
    for (const auto& [name, number] : kCalls) BOOST_TEST(ends_by(work, number), name);
}

BOOST_AUTO_TEST_CASE(calls_that_are_newer_than_the_list_do_not_exist) {
  for (const ArchiveWork work : kWorks)
    for (const int number : {SYS_pidfd_getfd, SYS_process_madvise, SYS_mount_setattr, 999})
      BOOST_TEST(say_filtered(work, [number] {
                   return errno_of(::syscall(number, -1, nullptr, 0, nullptr, 0));
                 }).text == errno_text(ENOSYS));
}

BOOST_AUTO_TEST_CASE(memory_is_never_executable) {
  constexpr long kPages = 8192;
  for (const ArchiveWork work : kWorks) {
    BOOST_TEST(ends_by(work, SYS_mmap, 0, kPages, PROT_READ | PROT_EXEC));
    BOOST_TEST(say_filtered(work, [] {
                 void* const made = ::mmap(nullptr, kPages, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                 return errno_of(made == MAP_FAILED ? -1 : ::mprotect(made, kPages, PROT_READ));
               }).text == "done");
    BOOST_TEST(ends_by(work, SYS_mprotect, 0, kPages, PROT_EXEC));
  }
}

BOOST_AUTO_TEST_CASE(a_process_may_abort_itself_but_signal_no_other) {
  for (const ArchiveWork work : kWorks) {
    const Said said = say_filtered(work, []() -> std::string { std::abort(); });
    BOOST_TEST(WTERMSIG(said.status) == SIGABRT);
    BOOST_TEST(ends_by(work, SYS_tgkill, ::getpid(), ::getpid(), 0));
  }
}

BOOST_AUTO_TEST_CASE(libc_finds_no_module_that_a_layer_brings_along) {
  for (const ArchiveWork work : kWorks)
    BOOST_TEST(say_filtered(work, [] { return errno_of(::open("/", O_RDONLY)); }).text ==
               "no such file or directory");
  BOOST_TEST(say_filtered(ArchiveWork::kIndex, [] {
               return errno_of(::openat(STDIN_FILENO, "x", O_RDONLY));
             }).text == "no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_layer_is_filled_by_descriptors) {
  const UniqueFd root = must(linux::sys::open("/", O_PATH | O_DIRECTORY));
  BOOST_TEST(say_filtered(ArchiveWork::kUnpack, [&] {
               return errno_of(::openat(root.get(), ".", O_RDONLY | O_DIRECTORY));
             }).text == "done");
}

BOOST_AUTO_TEST_SUITE_END()
