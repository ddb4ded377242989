#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/notify_socket.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// What a service manager tells its service by variables (sd_notify(3), sd_watchdog_enabled(3)).
struct ManagerVariables {
  std::string notify_socket;           // NOTIFY_SOCKET; "": none
  std::chrono::microseconds watchdog;  // WATCHDOG_USEC, if WATCHDOG_PID does not name another
                                       // process; 0: nobody expects a sign of life
};

/// Takes the variables out of the environment, so that no program that this process starts gets
/// them.
ManagerVariables take_manager_variables();

/// The service manager of a supervisor in the foreground. A message that cannot be sent is lost:
/// nothing of the pod depends on the service manager.
class ServiceNotifier {
 public:
  using Clock = std::chrono::steady_clock;

  /// Nothing if the process is no service of Type=notify. Errors: those of NotifySocket::connect().
  static Result<std::optional<ServiceNotifier>> connect(const ManagerVariables& variables);

  /// Tells what is done before the containers are started, at most once a second. The service
  /// manager then waits two minutes longer for the start.
  void tell_progress(std::string_view text);
  /// Tells that the containers are about to be started, which may take `patience`.
  void tell_starting(std::chrono::seconds patience);
  /// Tells that the pod has been started. Errors: the service manager does not read.
  Result<void> tell_ready();
  /// Tells that the pod stops, which may take `patience`.
  void tell_stopping(std::chrono::seconds patience);
  bool has_told_stopping() const { return is_stopping_; }
  /// Tells the state of the pod in words, if it has changed.
  void tell_state(const PodRecord& record);

  /// When tell_alive() is due: after each half of the watchdog's time.
  Clock::time_point next() const { return due_; }
  /// Gives a sign of life if it is due.
  void tell_alive(Clock::time_point now);

 private:
  ServiceNotifier(linux::NotifySocket socket, std::chrono::microseconds watchdog);

  linux::NotifySocket socket_;
  std::chrono::microseconds half_;  // 0: no watchdog
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point progress_due_;
  std::string state_;  // what tell_state() has told
  bool is_stopping_ = false;
};

/// The state of a pod in words: "running: 2 of 3 containers ready".
std::string state_in_words(const PodRecord& record);

}  // namespace ocirun::pods
