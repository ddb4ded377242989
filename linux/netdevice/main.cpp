// ocirun-netdevice moves network devices between namespaces. No other program loads libmnl, so only
// containers with network devices pay for the library. `ocirun create` runs ocirun-netdevice for a
// config with netDevices. ocirun also runs the program to bring devices back that a failed or
// killed `create` has moved. linux/network/device_program.hpp describes the protocol.

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

// The runtime kills a program that writes nothing for kProgramSilence. The return of thousands of
// devices takes longer.
void give_sign_of_life() {
  ignore(linux::write_all(Fd{STDOUT_FILENO}, std::string_view(&linux::kSignOfLife, 1)));
}

// Refuses to move devices if the runtime has ended. Called while this process holds the lock. The
// process that brings devices back takes the lock next, and then expects that no other process
// moves devices.
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
  OCIRUN_TRY(journal.lock());
  OCIRUN_TRY(check_parent());
  const auto container = network_namespace();
  if (moves) return linux::move_net_device({argv[2], argv[3]}, container.value_or(Fd{}), journal);
  OCIRUN_TRY_ASSIGN(const auto gone,
                    linux::return_net_devices(container, journal, give_sign_of_life));
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
