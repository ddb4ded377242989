#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/unique_fd.hpp"

struct seccomp_notif;

namespace ocirun::linux {

/// The gate before a program that makes a tap device and reads its frames. ocirun makes the device
/// in the program's place, and closes the gate before the program goes on: no frame reaches the
/// program before ocirun has opened the gate.
///
/// The program is below a seccomp filter that asks ocirun about TUNSETIFF. answer() makes this
/// ioctl(2) in the place of the program, which must be a child of the caller, or a process that the
/// caller may trace.
class TapGate {
 public:
  /// To be called in the process that will execute the program. Loads the filter, and sends the
  /// message for receive() through `caller`. Needs CAP_SYS_ADMIN. Errors: EBUSY: a seccomp agent
  /// answers system calls of this process already.
  static Result<void> send(const MessageSocket& caller);
  /// Receives what send() has sent. Errors: ECONNRESET: the other process has failed before.
  static Result<TapGate> receive(const MessageSocket& program);

  /// If the program asks for its device, makes the device with the gate closed, and lets the
  /// program go on. Does not wait. Errors: the program cannot be asked what it wants (ptrace(2)),
  /// or the device cannot be made or filtered; the program gets the error too.
  Result<void> answer();

  bool is_closed() const { return static_cast<bool>(tap_); }
  /// The open file of the device. The device exists as long as the file is open, so this TapGate
  /// must be destroyed before the program's end.
  Fd tap() const { return tap_; }
  const std::string& device() const { return device_; }

 private:
  explicit TapGate(UniqueFd listener) : listener_(std::move(listener)) {}
  Result<void> make_device(const seccomp_notif& question);

  UniqueFd listener_, tap_;
  std::string device_;
};

}  // namespace ocirun::linux
