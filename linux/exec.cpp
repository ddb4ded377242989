#include "linux/exec.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>

namespace ocirun::linux {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Linux before 5.9 (5.11 for CLOEXEC): the limit bounds the numbers, and fdinfo would need a procfs
// we may not trust.
int descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
}

void close_span(int first, int last) {
  if (first > last) return;
  if (::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0) return;
  for (int fd = first; fd <= std::min(last, descriptor_limit()); ++fd) ::close(fd);
}

}  // namespace

ExecArguments::ExecArguments(std::vector<std::string> arguments,
                             std::vector<std::string> environment)
    : arguments_(std::move(arguments)),
      environment_(std::move(environment)),
      argv_(pointers_to(arguments_)),
      envp_(pointers_to(environment_)) {}

void reset_signals() {
  struct sigaction fresh{};
  fresh.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &fresh, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_descriptors_from(int first) { close_span(first, INT_MAX); }

void close_descriptors_on_exec(int first) {
  if (::close_range(static_cast<unsigned>(first), INT_MAX, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = first; fd <= descriptor_limit(); ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void close_descriptors_but(std::span<const Fd> keep) {
  std::vector<int> kept{2};
  for (const Fd fd : keep) kept.push_back(fd.value);
  std::ranges::sort(kept);
  int next = 3;
  for (const int fd : kept) {
    close_span(next, fd - 1);
    next = std::max(next, fd + 1);
  }
  close_span(next, INT_MAX);
}

}  // namespace ocirun::linux
