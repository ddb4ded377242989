#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {

// The interface of the program ocirun-netdevice. Command lines:
//    ocirun-netdevice move DEVICE NAME
//    ocirun-netdevice return
// Descriptor 3 is the container's network namespace (closed if the namespace is gone), descriptor 4
// the journal. The program is killed when its parent dies. On success (exit status 0), its stdout
// has the new name of the device, or for `return` the names of devices that no longer exist, one a
// line. On failure (exit status 1), its stdout has the lines of an error. Empty lines before this
// answer are signs of life, one for each device that is done.
inline constexpr std::string_view kMoveVerb = "move";
inline constexpr std::string_view kReturnVerb = "return";
inline constexpr char kSignOfLife = '\n';
inline constexpr int kNetworkNamespaceDescriptor = 3;
inline constexpr int kJournalDescriptor = 4;

/// Has ocirun-netdevice move one device of the caller's network namespace into `target` (L-29),
/// rename it, give it its permanent global addresses, and set it up. Returns the new name.
/// `journal`, a file open for reading and appending, is closed here, so that only the program holds
/// its lock. Errors: a step failed or the program was killed (after kProgramSilence, or by
/// `interrupt`). The device is then wherever that step left it; request_device_return() brings it
/// back.
Result<std::string> request_device_move(const NetDevice& device, Fd target, UniqueFd journal,
                                        const Interrupt& interrupt);
/// Has ocirun-netdevice bring back all devices in `journal` from `source` (-1: the namespace is
/// gone), as they were before. Returns the names of the devices that no longer exist. Error: that
/// of the first device that could not be brought back. The caller may then try again.
Result<std::vector<std::string>> request_device_return(Fd source, UniqueFd journal);

}  // namespace ocirun::linux
