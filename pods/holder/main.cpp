// ocirun-hold: keeps the namespaces that the containers of a pod share. Executed from a sealed
// copy, because a container may share its pid namespace and reach /proc/PID/exe. A static program
// of a few system calls: each pod has one.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

// Ends by SIGKILL only: a program of the pod may signal process 1 of a pid namespace.
int main() {
  ::prctl(PR_SET_NAME, "ocirun-hold");
  ::prctl(PR_SET_DUMPABLE, 0);
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  // Process 1 of a pid namespace adopts the orphans of the containers, and must reap them.
  for (;;) {
    siginfo_t signal{};
    if (::sigwaitinfo(&signals, &signal) == SIGCHLD)
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
  }
}
