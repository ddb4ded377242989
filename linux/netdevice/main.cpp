// ocirun-netdevice: the only program that loads libmnl, run by `ocirun create` for a config with
// netDevices, so that nobody else pays for the library. net_device_program.hpp tells how the two
// talk.

#include <unistd.h>

#include <string>
#include <string_view>

#include "linux/file_io.hpp"
#include "linux/net_device_program.hpp"
#include "linux/netdevice/net_device.hpp"
#include "linux/own_program.hpp"

namespace {

using namespace ocirun;

Result<std::string> run(int argc, char** argv) {
  const std::string_view verb = argc == 4 ? argv[1] : "";
  const Fd network_namespace{linux::kNetworkNamespaceDescriptor};
  if (verb == linux::kMoveVerb)
    return linux::move_net_device({argv[2], argv[3]}, network_namespace);
  if (verb == linux::kReturnVerb) {
    TRY(linux::return_net_device(argv[2], argv[3], network_namespace));
    return std::string(argv[3]);
  }
  return refuse("ocirun-netdevice is a part of ocirun and not for use by hand");
}

}  // namespace

int main(int argc, char** argv) {
  const Result<std::string> name = run(argc, argv);
  const std::string answer = name ? *name : linux::error_lines(name.error());
  if (!linux::write_all(Fd{STDOUT_FILENO}, answer)) return 2;
  return name ? 0 : 1;
}
