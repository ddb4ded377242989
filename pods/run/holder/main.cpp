// ocirun-hold: a process that a pod keeps beside its supervisor. A static program of a few system
// calls: each pod has two such processes.
//
// Without arguments it is the holder, which keeps the namespaces that the containers of a pod
// share. Executed from a sealed copy, because a container may share its pid namespace and reach
// /proc/PID/exe. With the argument "keep" it is the keeper (keep.hpp).

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "pods/run/holder/keep.hpp"

// Ends by SIGKILL only: a program of the pod may signal process 1 of a pid namespace.
int main(int count, char**) {
  ::prctl(PR_SET_NAME, count == 1 ? "ocirun-hold" : "ocirun-keep");
  ::prctl(PR_SET_DUMPABLE, 0);
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  if (count > 1) keep_descriptors();
  // Process 1 of a pid namespace adopts the orphans of the containers, and must reap them.
  for (;;) {
    siginfo_t signal{};
    if (::sigwaitinfo(&signals, &signal) == SIGCHLD)
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
  }
}
