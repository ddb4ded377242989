#include "linux/process/exec.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <csignal>
#include <cstring>
#include <optional>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The number of descriptors that close_descriptors_on_exec() marks before Linux 5.11. The open
// descriptors are not listed, because the container's /proc cannot be trusted. The descriptors that
// were open at start are closed by then, so the runtime's own descriptors have low numbers.
constexpr int kOwnDescriptors = 1024;

// The greatest descriptor number to try where close_range(2) fails, by RLIMIT_NOFILE.
int descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
}

Result<std::vector<int>> list_descriptors() {
  std::vector<int> listed;
  OCIRUN_TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, procfs.open_file("self/fd", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY(for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    if (const auto fd = number<int>(name)) listed.push_back(*fd);
    return {};
  }));
  return listed;
}

// Before Linux 5.9: closes the descriptors that /proc/self/fd lists, or else all possible numbers.
template <typename IsKept>
void close_one_by_one(IsKept is_kept) {
  const auto close_if_unkept = [&](int fd) {
    if (!is_kept(fd)) ::close(fd);
  };
  if (const auto listed = list_descriptors())
    std::ranges::for_each(*listed, close_if_unkept);
  else
    for (int fd = 0; fd <= descriptor_limit(); ++fd) close_if_unkept(fd);
}

void reset(int signal) {
  struct sigaction fresh{};
  fresh.sa_handler = SIG_DFL;
  ::sigaction(signal, &fresh, nullptr);
}

void unblock_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The signals of a line of /proc/PID/status, such as "SigIgn:\t0000000000001000". Bit 0 is
/// signal 1. Nothing on an architecture with more than 64 signals.
std::optional<std::uint64_t> signals_in(std::string_view status, std::string_view line) {
  const std::size_t at = status.find(line);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + line.size());
  return number(status.substr(0, status.find('\n')), 16);
}

bool close_span(int first, int last) {
  return first > last ||
         ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0;
}

}  // namespace

ExecArguments::ExecArguments(std::vector<std::string> arguments,
                             std::vector<std::string> environment)
    : arguments_(std::move(arguments)),
      environment_(std::move(environment)),
      argv_(pointers_to(arguments_)),
      envp_(pointers_to(environment_)) {}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) reset(signal);
  unblock_signals();
}

void reset_signals(std::string_view status) {
  const auto ignored = signals_in(status, "\nSigIgn:\t");
  const auto caught = signals_in(status, "\nSigCgt:\t");
  if (!ignored || !caught) return reset_signals();
  for (std::uint64_t left = *ignored | *caught; left != 0; left &= left - 1)
    reset(std::countr_zero(left) + 1);
  unblock_signals();
}

void close_descriptors_from(int first) {
  if (!close_span(first, INT_MAX)) close_one_by_one([first](int fd) { return fd < first; });
}

void close_descriptors_on_exec(int first) {
  if (::close_range(static_cast<unsigned>(first), INT_MAX, CLOSE_RANGE_CLOEXEC) == 0) return;
  const int last = std::min(descriptor_limit(), first + kOwnDescriptors);
  for (int fd = first; fd <= last; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void close_descriptors_but(std::span<const Fd> keep) {
  std::vector<int> kept{0, 1, 2, INT_MAX};
  for (const Fd fd : keep) kept.push_back(fd.value);
  std::ranges::sort(kept);
  for (std::size_t i = 1; i < kept.size(); ++i)
    if (!close_span(kept[i - 1] + 1, kept[i] - 1))
      return close_one_by_one([&](int fd) { return std::ranges::binary_search(kept, fd); });
}

namespace {

constexpr std::string_view kTitle = "ocirun: init";

char* end_of(char* text) { return text + std::strlen(text) + 1; }

}  // namespace

CommandLine::CommandLine(char* const argv[]) : words_(argv[0]) {
  if (words_ == nullptr) return;
  char* end = words_;
  for (char* const* word = argv; *word == end; ++word) end = end_of(*word);
  words_size_ = static_cast<std::size_t>(end - words_);
  for (char** entry = environ; entry != nullptr && *entry == end; ++entry) end = end_of(*entry);
  size_ = static_cast<std::size_t>(end - words_);
}

void CommandLine::forget() const {
  if (words_ == nullptr) return;
  ::explicit_bzero(words_, size_);
  kTitle.copy(words_, size_ - 1);
  // The kernel shows /proc/PID/cmdline up to the first NUL if the last byte of the arguments is not
  // NUL. If the last byte is NUL, the kernel shows all the zeros that were written above.
  if (words_size_ > kTitle.size() + 1) words_[words_size_ - 1] = '.';
}

}  // namespace ocirun::linux
