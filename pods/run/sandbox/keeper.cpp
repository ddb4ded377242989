#include "pods/run/sandbox/keeper.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/run/sandbox/holder.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint8_t kAnyTag = 0;
constexpr int kOtherEnd = STDERR_FILENO;  // holder/keep.hpp

}  // namespace

Result<Keeper> Keeper::start(
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record) {
  OCIRUN_TRY_ASSIGN(const std::string program, linux::find_own_program("ocirun-hold"));
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  auto& [own_end, keepers_end] = ends;
  linux::ProcessIdentity process;
  const auto record_and_remember = [&](const linux::ProcessIdentity& identity) {
    process = identity;
    return record(identity);
  };
  OCIRUN_TRY(linux::start_recorded_program(std::vector<std::string>{program, "keep"},
                                           {.out = keepers_end.fd(), .err = own_end.fd()},
                                           record_and_remember));
  return Keeper(process, std::move(own_end));
}

Result<Keeper> Keeper::find(const linux::ProcessIdentity& process) {
  auto end = [&]() -> Result<UniqueFd> {
    OCIRUN_TRY_ASSIGN(const UniqueFd pidfd, linux::open_pidfd(process));
    return linux::copy_descriptor(pidfd, kOtherEnd);
  }();
  if (!end) return std::unexpected(end.error().within("find the keeper of the pod"));
  return Keeper(process, linux::MessageSocket(*std::move(end)));
}

Result<void> Keeper::keep(std::uint16_t slot, std::span<const Fd> descriptors) const {
  const std::string_view number(reinterpret_cast<const char*>(&slot), sizeof slot);
  return within(requests_.send(kAnyTag, number, descriptors), "give descriptors to the keeper");
}

Result<UniqueFd> Keeper::take(std::uint16_t slot) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd pidfd, linux::open_pidfd(process_));
  return within(linux::copy_descriptor(pidfd, slot), "take slot {} of the keeper", slot);
}

Result<void> Keeper::enter_mount_namespace() const {
  OCIRUN_TRY_ASSIGN(const UniqueFd mounts,
                    linux::sys::open(namespace_path(process_.pid, "mnt").c_str(), O_RDONLY));
  if (!linux::is_alive(process_)) return fail(ESRCH, "the keeper of the pod");
  if (::setns(mounts.get(), CLONE_NEWNS) != 0) return fail(errno, "enter the pod's mounts");
  return {};
}

}  // namespace ocirun::pods
