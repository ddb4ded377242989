// call NAME [NUMBER]: makes a system call with NUMBER as its first argument, and prints the errno,
// 0 for success. A program for the containers of life.bash, whose seccomp filters decide about
// these calls.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char* argv[]) {
  struct Call {
    const char* name;
    long number;
  };
  constexpr Call kCalls[] = {{"kcmp", SYS_kcmp},         {"keyctl", SYS_keyctl},
                             {"mkdirat", SYS_mkdirat},   {"personality", SYS_personality},
                             {"vmsplice", SYS_vmsplice}, {"unshare", SYS_unshare},
                             {"unknown", 4000}};
  if (argc < 2) return 2;
  const auto argument = static_cast<long>(argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 0ULL);
  for (const Call& call : kCalls) {
    if (std::strcmp(call.name, argv[1]) != 0) continue;
    const long result = syscall(call.number, argument, 0, 0, 0, 0, 0);
    std::printf("%d\n", result < 0 ? errno : 0);
    return 0;
  }
  return 2;
}
