#include "linux/base/outer_filter.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

// An argument that no call accepts: it is no descriptor, and has unknown flags.
constexpr unsigned long kNone = ~0UL;

/// A call that changes nothing: to `arguments` the kernel answers EINVAL (keyctl(2): EOPNOTSUPP).
struct Question {
  long call;
  const char* name;
  std::array<unsigned long, 5> arguments;
  bool looks_at_rights_first = false;  // without the right to mount, the kernel answers EPERM
};

constexpr std::array kQuestions{
    Question{SYS_clone3, "clone3", {}},
    Question{SYS_openat2, "openat2", {kNone}},
    Question{SYS_open_tree, "open_tree", {kNone, 0, kNone}},
    Question{SYS_move_mount, "move_mount", {kNone, 0, kNone, 0, kNone}, true},
    Question{SYS_fsopen, "fsopen", {0, kNone}, true},
    Question{SYS_fsconfig, "fsconfig", {kNone, kNone}},
    Question{SYS_fsmount, "fsmount", {kNone, kNone, kNone}, true},
    Question{SYS_fspick, "fspick", {kNone, 0, kNone}, true},
    Question{SYS_mount_setattr, "mount_setattr", {kNone, 0, kNone}},
    Question{SYS_pidfd_open, "pidfd_open", {0, kNone}},
    Question{SYS_pidfd_send_signal, "pidfd_send_signal", {kNone, 0, 0, kNone}},
    Question{SYS_pidfd_getfd, "pidfd_getfd", {kNone, 0, kNone}},
    Question{SYS_keyctl, "keyctl", {kNone}},
    Question{SYS_memfd_create, "memfd_create", {0, kNone}},
};

const Question* question_about(long call) {
  const auto* const found = std::ranges::find(kQuestions, call, &Question::call);
  return found == kQuestions.end() ? nullptr : found;
}

// mount(2) looks at the right to mount, and then refuses two propagations at once with EINVAL.
bool may_mount() {
  const auto asked = sys::mount("none", "/", nullptr, MS_SHARED | MS_PRIVATE, nullptr);
  return asked || asked.error().number() != EPERM;
}

bool is_refused(const Question& question) {
  const auto& [first, second, third, fourth, fifth] = question.arguments;
  const long answer = ::syscall(question.call, first, second, third, fourth, fifth);
  return answer < 0 && errno == EPERM && (!question.looks_at_rights_first || may_mount());
}

}  // namespace

bool is_filtered(long call) {
  const int kept = errno;
  const Question* const question = question_about(call);
  const bool refused = question != nullptr && is_refused(*question);
  errno = kept;
  return refused;
}

namespace {

std::string describe(std::string_view name) {
  return fmt::format(
      "a seccomp filter outside of ocirun refuses {0}: allow {0} there (in the profile of an outer "
      "container, or in SystemCallFilter= of a unit)",
      name);
}

}  // namespace

std::string describe_filtered(long call) {
  const Question* const question = question_about(call);
  return describe(question == nullptr ? "a system call" : question->name);
}

std::unexpected<Error> failed_call(long call, std::string_view what) {
  if (errno != EPERM || !is_filtered(call)) return sys::last_error(what);
  return std::unexpected(Error(ENOSYS, {std::string(what), describe_filtered(call)}));
}

std::unexpected<Error> failed_namespace_call(std::string_view name, std::string_view what) {
  const int number = errno;
  if (number != EPERM || !may_mount()) return fail(number, "{}", what);
  return std::unexpected(Error(ENOSYS, {std::string(what), describe(name)}));
}

std::string why_absent(long call, std::string_view since) {
  return is_filtered(call) ? describe_filtered(call) : std::string(since);
}

}  // namespace ocirun::linux
