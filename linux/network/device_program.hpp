#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/network/netlink.hpp"
#include "linux/process/await_program.hpp"

namespace ocirun::linux {

// ocirun-netdevice move DEVICE NAME
// ocirun-netdevice return
// The container's network namespace is at descriptor 3 (closed: it is gone), the journal at 4. The
// program dies with its parent. Its stdout is the name that the device got, or of `return` the
// names of devices that are nowhere, a line each (exit status 0), or an error's lines (1). Empty
// lines before that are signs of life, one for each device that is dealt with.
inline constexpr std::string_view kMoveVerb = "move";
inline constexpr std::string_view kReturnVerb = "return";
inline constexpr char kSignOfLife = '\n';
inline constexpr int kNetworkNamespaceDescriptor = 3;
inline constexpr int kJournalDescriptor = 4;

/// Has ocirun-netdevice move one device of the caller's network namespace into `target` (L-29):
/// renamed, with its permanent global addresses, up. Returns the name it got. `journal`, a file
/// open for reading and appending, is closed here: the program alone locks it. Errors: the device
/// is wherever it was when a step failed or the program was killed (after kProgramSilence, or by
/// `interrupt`); request_device_return brings it back.
Result<std::string> request_device_move(const NetDevice& device, Fd target, UniqueFd journal,
                                        const Interrupt& interrupt);
/// Has it bring all devices that `journal` tells of back from `source` (-1: it is gone), as they
/// were. Returns the names of those that are nowhere any more. Errors: of the first one that could
/// not be brought back; it may be asked again.
Result<std::vector<std::string>> request_device_return(Fd source, UniqueFd journal);

}  // namespace ocirun::linux
