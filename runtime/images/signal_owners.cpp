#include "runtime/images/signal_owners.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/images/directory.hpp"
#include "runtime/images/format.hpp"

namespace ocirun::runtime {
namespace {

/// Where an open file of one type has its owner in CRIU's message.
struct OwnerField {
  std::uint32_t file = 0;   // the field with the file of that type
  std::uint32_t owner = 0;  // the field in there
};
constexpr OwnerField kOwners[] = {{.file = 3, .owner = 5},    // a regular file
                                  {.file = 4, .owner = 13},   // a socket of the internet
                                  {.file = 6, .owner = 6},    // a packet socket
                                  {.file = 7, .owner = 11},   // a netlink socket
                                  {.file = 8, .owner = 3},    // eventfd
                                  {.file = 9, .owner = 3},    // epoll
                                  {.file = 10, .owner = 3},   // signalfd
                                  {.file = 12, .owner = 3},   // timerfd
                                  {.file = 13, .owner = 4},   // inotify
                                  {.file = 14, .owner = 3},   // fanotify
                                  {.file = 15, .owner = 5},   // a file of a plugin
                                  {.file = 16, .owner = 9},   // a unix socket
                                  {.file = 18, .owner = 4},   // a pipe
                                  {.file = 19, .owner = 4},   // a terminal
                                  {.file = 20, .owner = 4},   // memfd
                                  {.file = 21, .owner = 4},   // a map of BPF
                                  {.file = 22, .owner = 5}};  // pidfd
constexpr std::uint32_t kPid = 5;

bool is_known(std::span<const ImageProcess> processes, std::uint32_t pid) {
  return std::ranges::any_of(processes, [&](const ImageProcess& process) {
    const auto is_it = [&](int own) { return static_cast<std::uint32_t>(own) == pid; };
    return is_it(process.pid) || std::ranges::any_of(process.threads, is_it);
  });
}

}  // namespace

Result<void> check_signal_owners(Fd images, std::span<const ImageProcess> processes) {
  const auto check = [&](const ImageMessage& entry) -> Result<void> {
    for (const auto& [file_field, owner_field] : kOwners) {
      TRY_ASSIGN(const ImageMessage file, message_in(entry, file_field));
      TRY_ASSIGN(const ImageMessage owner, message_in(file, owner_field));
      const std::uint32_t pid = word_in(owner, kPid);
      if (pid != 0 && !is_known(processes, pid))
        return refuse("an open file sends signals to process {}, which the images do not have",
                      pid);
    }
    return {};
  };
  return for_each_entry_of(images, "files.img", ImageKind::kFiles, check);
}

}  // namespace ocirun::runtime
