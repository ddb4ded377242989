#include "runtime/protocol/plans.hpp"

#include <fmt/core.h>
#include <sys/mman.h>

#include <new>

namespace ocirun::runtime {

StepBoard::StepBoard() {
  void* memory =
      ::mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) place_.reset(new (memory) Place{});
}

void StepBoard::Unmap::operator()(Place* place) const { ::munmap(place, sizeof(Place)); }

void StepBoard::enter(InitStep step, int mount) const {
  if (!place_) return;
  place_->mount.store(mount);
  place_->step.store(step);
}

std::string StepBoard::activity() const {
  if (!place_) return "";
  switch (place_->step.load()) {
    case InitStep::kAsInConversation:
      break;
    case InitStep::kNames:
      return "its names, network and sysctls were set";
    case InitStep::kRoot:
      return "its root was mounted";
    case InitStep::kMounts:
      return fmt::format("/mounts/{} was made", place_->mount.load());
    case InitStep::kDevices:
      return "its devices were made";
    case InitStep::kHostHooks:
      return "its prestart and createRuntime hooks ran";
    case InitStep::kSysctls:
      return "its network sysctls were set";
    case InitStep::kContainerHooks:
      return "its createContainer hooks ran";
    case InitStep::kTerminal:
      return "its terminal was opened";
    case InitStep::kReadOnly:
      return "its mounts were made read-only";
    case InitStep::kChangeRoot:
      return "its root was entered";
    case InitStep::kMasks:
      return "its masked and read-only paths were covered";
  }
  return "";
}

}  // namespace ocirun::runtime
