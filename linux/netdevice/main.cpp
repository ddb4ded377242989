// ocirun-netdevice: the only program that loads libmnl, so that other containers do not pay for the
// library. It is run by `ocirun create` for a config with netDevices, and to bring devices back
// that a failed or killed `create` has moved. The protocol is described in
// linux/network/device_program.hpp.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/netdevice/net_device.hpp"
#include "linux/network/device_program.hpp"
#include "linux/sealed/own_program.hpp"

namespace {

using namespace ocirun;

std::optional<Fd> network_namespace() {
  if (::fcntl(linux::kNetworkNamespaceDescriptor, F_GETFD) < 0) return std::nullopt;
  return Fd{linux::kNetworkNamespaceDescriptor};
}

// Thousands of devices take longer than kProgramSilence, after which the runtime would kill a
// silent program.
void give_sign_of_life() {
  static_cast<void>(linux::write_all(Fd{STDOUT_FILENO}, std::string_view(&linux::kSignOfLife, 1)));
}

// Called after locking: the process that brings devices back takes the lock next and relies on no
// other process moving them.
Result<void> check_parent() {
  pollfd reader{STDOUT_FILENO, 0, 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0)
    return fail(ECANCELED, "the runtime is gone");
  return {};
}

Result<std::string> run(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const bool moves = verb == linux::kMoveVerb && argc == 4;
  if (!moves && (verb != linux::kReturnVerb || argc != 2))
    return refuse("ocirun-netdevice is a part of ocirun and not for use by hand");
  const linux::Journal journal(Fd{linux::kJournalDescriptor});
  TRY(journal.lock());
  TRY(check_parent());
  const auto container = network_namespace();
  if (moves) return linux::move_net_device({argv[2], argv[3]}, container.value_or(Fd{}), journal);
  TRY_ASSIGN(const auto gone, linux::return_net_devices(container, journal, give_sign_of_life));
  std::string lines;
  for (const std::string& name : gone) lines += name + '\n';
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<std::string> answer = run(argc, argv);
  const std::string text = answer ? *answer : linux::error_lines(answer.error());
  if (!linux::write_all(Fd{STDOUT_FILENO}, text)) return 2;
  return answer ? 0 : 1;
}
