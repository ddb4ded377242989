#include "tests/linux/mounts/scene.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>

namespace ocirun::test {

void refuse_system_calls(const std::vector<long>& calls, int error) {
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  detail::check(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "PR_SET_SECCOMP");
}

UniqueFd shifted_user_namespace() {
  const pid_t pid = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string proc = "/proc/" + std::to_string(pid);
  test::detail::write_file(proc + "/uid_map", "0 100000 65536");
  test::detail::write_file(proc + "/gid_map", "0 100000 65536");
  UniqueFd fd(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return fd;
}

}  // namespace ocirun::test
