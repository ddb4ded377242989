#include "runtime/protocol/plans.hpp"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "linux/base/timeline.hpp"

namespace ocirun::runtime {
namespace {

struct StepTexts {
  InitStep step;
  const char* name;      // in a timeline
  const char* activity;  // after "died while …"
};

constexpr StepTexts kStepTexts[]{
    {InitStep::kAsInConversation, "set up the process", ""},
    {InitStep::kNames, "set names, network, sysctls", "its names, network and sysctls were set"},
    {InitStep::kRoot, "mount the root", "its root was mounted"},
    {InitStep::kMounts, "make a mount", "a mount was made"},
    {InitStep::kDevices, "make devices", "its devices were made"},
    {InitStep::kHostHooks, "prestart and createRuntime hooks",
     "its prestart and createRuntime hooks ran"},
    {InitStep::kSysctls, "set network sysctls", "its network sysctls were set"},
    {InitStep::kContainerHooks, "createContainer hooks", "its createContainer hooks ran"},
    {InitStep::kTerminal, "open the terminal", "its terminal was opened"},
    {InitStep::kReadOnly, "make mounts read-only", "its mounts were made read-only"},
    {InitStep::kChangeRoot, "enter the root", "its root was entered"},
    {InitStep::kMasks, "cover masked and read-only paths",
     "its masked and read-only paths were covered"},
};

const StepTexts& texts_of(InitStep step) {
  const auto* const found = std::ranges::find(kStepTexts, step, &StepTexts::step);
  return found == std::end(kStepTexts) ? kStepTexts[0] : *found;
}

}  // namespace

StepBoard::StepBoard() {
  void* memory =
      ::mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) place_.reset(new (memory) Place{});
}

void StepBoard::Unmap::operator()(Place* place) const { ::munmap(place, sizeof(Place)); }

void StepBoard::enter(InitStep step, int mount, std::string_view destination) const {
  if (linux::timeline::is_on())
    linux::timeline::step(
        texts_of(step).name,
        step == InitStep::kMounts ? fmt::format("/mounts/{} {}", mount, destination) : "");
  if (!place_) return;
  place_->mount.store(mount);
  place_->step.store(step);
}

std::string StepBoard::activity() const {
  if (!place_) return "";
  const InitStep step = place_->step.load();
  if (step == InitStep::kMounts) return fmt::format("/mounts/{} was made", place_->mount.load());
  return texts_of(step).activity;
}

}  // namespace ocirun::runtime
