#include "linux/network/tap_gate.hpp"

#include <linux/if_tun.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "linux/network/frame_filter.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
namespace {

SeccompProfile ask_about_devices() {
  SeccompProfile profile;
  profile.rules.push_back({.names = {"ioctl"},
                           .action = SeccompAction::kNotify,
                           .errno_ret = {},
                           .arguments = {{.index = 1,
                                          .value = UINT32_MAX,
                                          .value_two = TUNSETIFF,
                                          .op = SeccompOperator::kMaskedEqual}}});
  return profile;
}

bool is_readable(Fd fd) {
  pollfd watched{fd.value, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLIN) != 0;
}

/// The ifreq at `address` in the memory of a process.
class RemoteRequest {
 public:
  RemoteRequest(int pid, std::uint64_t address)
      : pid_(pid), there_{.iov_base = std::bit_cast<void*>(address), .iov_len = sizeof request_} {}
  Result<ifreq> read() {
    if (::process_vm_readv(pid_, &here_, 1, &there_, 1, 0) != sizeof request_)
      return fail(errno, "read which tap device the program wants");
    return request_;
  }
  Result<void> write(const ifreq& request) {
    request_ = request;
    if (::process_vm_writev(pid_, &here_, 1, &there_, 1, 0) != sizeof request_)
      return fail(errno, "tell the program the name of its tap device");
    return {};
  }

 private:
  int pid_;
  ifreq request_{};
  iovec here_{.iov_base = &request_, .iov_len = sizeof request_}, there_;
};

/// Reads the frames that were sent before the gate was closed.
void drain(Fd tap) {
  std::array<char, 65536> frame;
  while (is_readable(tap) && ::read(tap.value, frame.data(), frame.size()) > 0) continue;
}

}  // namespace

Result<void> TapGate::send(const MessageSocket& caller) {
  std::vector<std::string> unknown_names;
  OCIRUN_TRY_ASSIGN(const SeccompFilter filter,
                    compile_seccomp(ask_about_devices(), unknown_names));
  OCIRUN_TRY_ASSIGN(const UniqueFd listener, load_seccomp(filter));
  const std::array<Fd, 1> sent{listener};
  return caller.send(0, "", sent);
}

Result<TapGate> TapGate::receive(const MessageSocket& program) {
  OCIRUN_TRY_ASSIGN(Packet packet, program.receive());
  if (packet.descriptors.size() != 1) return fail(ECONNRESET, "wait for the program");
  return TapGate(std::move(packet.descriptors.front()));
}

Result<void> TapGate::make_device(const seccomp_notif& question) {
  const int pid = static_cast<int>(question.pid);
  OCIRUN_TRY_ASSIGN(const ProcessIdentity process, identify_process(pid));
  OCIRUN_TRY_ASSIGN(const UniqueFd pidfd, open_pidfd(process));
  OCIRUN_TRY_ASSIGN(UniqueFd tap,
                    within(copy_descriptor(pidfd, static_cast<int>(question.data.args[0])),
                           "copy the program's descriptor of the tap device"));
  RemoteRequest remote(pid, question.data.args[2]);
  OCIRUN_TRY_ASSIGN(ifreq wanted, remote.read());
  // Checked after opening: until then the process waits for the answer, and no other has its pid.
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &question.id) != 0)
    return fail(errno, "make the tap device: the program has ended");
  if (::ioctl(tap.get(), TUNSETIFF, &wanted) != 0) return fail(errno, "make the tap device");
  OCIRUN_TRY(filter_frames(tap, closed_frame_filter()));
  drain(tap);
  OCIRUN_TRY(remote.write(wanted));
  device_.assign(wanted.ifr_name, ::strnlen(wanted.ifr_name, IFNAMSIZ));
  tap_ = std::move(tap);
  return {};
}

Result<void> TapGate::answer() {
  if (!is_readable(listener_)) return {};
  seccomp_notif question{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) {
    if (errno == ENOENT || errno == EINTR) return {};  // the program was killed; a signal
    return fail(errno, "wait for the program to make its tap device");
  }
  const auto made = [&]() -> Result<void> {
    if (tap_) return fail(EPERM, "the program makes a second tap device");
    return make_device(question);
  }();
  seccomp_notif_resp reply{};
  reply.id = question.id;
  reply.error = made ? 0 : -made.error().number();
  if (!made && reply.error == 0) reply.error = -EPERM;
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0 && made)
    return fail(errno, "answer the program");
  return made;
}

}  // namespace ocirun::linux
