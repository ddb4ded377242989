#include "pods/run/units/service_notifier.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

constexpr std::chrono::seconds kBetweenProgress{1};
constexpr std::chrono::minutes kProgressPatience{2};

/// Removes a variable from the environment, and returns its value.
std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

/// The line that makes the service manager wait longer for a start or a stop.
std::string extension(std::chrono::microseconds patience) {
  return fmt::format("EXTEND_TIMEOUT_USEC={}", patience.count());
}

}  // namespace

ManagerVariables take_manager_variables() {
  ManagerVariables variables{.notify_socket = take_variable("NOTIFY_SOCKET"), .watchdog = {}};
  const auto microseconds = linux::number<std::uint64_t>(take_variable("WATCHDOG_USEC"));
  const std::string pid = take_variable("WATCHDOG_PID");
  const bool is_ours = pid.empty() || linux::number<int>(pid) == ::getpid();
  constexpr std::uint64_t kMostWatchdog = std::uint64_t{1} << 52;  // a century
  if (microseconds && is_ours)
    variables.watchdog = std::chrono::microseconds(std::min(*microseconds, kMostWatchdog));
  return variables;
}

ServiceNotifier::ServiceNotifier(linux::NotifySocket socket, std::chrono::microseconds watchdog)
    : socket_(std::move(socket)), half_(watchdog / 2) {
  if (half_.count() != 0) due_ = Clock::now();
}

Result<std::optional<ServiceNotifier>> ServiceNotifier::connect(const ManagerVariables& variables) {
  OCIRUN_TRY_ASSIGN(auto socket, linux::NotifySocket::connect(variables.notify_socket));
  if (!socket) return std::nullopt;
  return ServiceNotifier(*std::move(socket), variables.watchdog);
}

void ServiceNotifier::tell_progress(std::string_view text) {
  const Clock::time_point now = Clock::now();
  if (now < progress_due_) return;
  progress_due_ = now + kBetweenProgress;
  ignore(socket_.tell(fmt::format("STATUS={}\n{}", linux::in_one_line(std::string(text)),
                                  extension(kProgressPatience))));
}

void ServiceNotifier::tell_starting(std::chrono::seconds patience) {
  ignore(socket_.tell(fmt::format("STATUS=starting\n{}", extension(patience))));
}

Result<void> ServiceNotifier::tell_ready() { return socket_.tell("READY=1"); }

void ServiceNotifier::tell_stopping(std::chrono::seconds patience) {
  is_stopping_ = true;
  ignore(socket_.tell(fmt::format("STOPPING=1\nSTATUS=stopping\n{}", extension(patience))));
}

void ServiceNotifier::tell_state(const PodRecord& record) {
  if (is_stopping_) return;
  std::string state = linux::in_one_line(state_in_words(record));
  if (state == state_) return;
  if (socket_.tell("STATUS=" + state)) state_ = std::move(state);
}

void ServiceNotifier::tell_alive(Clock::time_point now) {
  if (now < due_) return;
  due_ = now + half_;
  ignore(socket_.tell("WATCHDOG=1"));
}

std::string state_in_words(const PodRecord& record) {
  const auto counts = [](const ContainerRecord& container) { return !container.is_init; };
  const auto all = std::ranges::count_if(record.containers, counts);
  const auto good = std::ranges::count_if(record.containers, [&](const ContainerRecord& container) {
    return counts(container) && container.ready;
  });
  const bool is_between = record.status == PodStatus::kStarting || record.is_stopping;
  const std::string text = fmt::format("{}: {} of {} containers ready",
                                       is_between ? shown_status(record) : "running", good, all);
  return record.reason.empty() ? text : fmt::format("{}; {}", text, record.reason);
}

}  // namespace ocirun::pods
