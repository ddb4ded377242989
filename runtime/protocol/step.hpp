#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace ocirun::runtime {

/// What a container's first process does between two of its messages to the parent.
enum class InitStep : std::uint8_t {
  kAsInConversation,  // the last message tells enough
  kNames,
  kRoot,
  kMounts,
  kDevices,
  kHostHooks,
  kSysctls,
  kContainerHooks,
  kTerminal,
  kReadOnly,
  kChangeRoot,
  kMasks,
};

/// Memory that init writes and its parent reads, because an init that the kernel kills can send no
/// message. The memory is shared by the clone; execve takes it away from the program.
class StepBoard {
 public:
  /// Without memory for the board, activity() is always empty.
  StepBoard();

  void enter(InitStep step, int mount = 0) const;
  /// "/mounts/2 was made", as in "died while …"; "" for kAsInConversation.
  std::string activity() const;

 private:
  struct Place {
    std::atomic<InitStep> step;
    std::atomic<int> mount;  // the index in config.json, for kMounts
  };
  struct Unmap {
    void operator()(Place* place) const;
  };
  std::unique_ptr<Place, Unmap> place_;
};

}  // namespace ocirun::runtime
