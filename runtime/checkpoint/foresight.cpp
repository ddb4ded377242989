#include "runtime/checkpoint/foresight.hpp"

#include <fcntl.h>

#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/checkpoint/restored_processes.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/compare/restored.hpp"
#include "runtime/images/check.hpp"

namespace ocirun::runtime {
namespace {

// Those that init has open. The caller of `restore` gives others.
Result<std::vector<UniqueFd>> open_streams(const linux::Procfs& procfs, int init) {
  std::vector<UniqueFd> streams;
  for (int number = 0; number < 3; ++number) {
    auto stream =
        linux::sys::openat(procfs.fd(), fmt::format("{}/fd/{}", init, number).c_str(), O_PATH);
    if (stream)
      streams.push_back(*std::move(stream));
    else if (stream.error().number() != ENOENT)
      return std::unexpected(std::move(stream).error());
  }
  return streams;
}

}  // namespace

Result<void> foresee_restore(const SavedContainer& saved) {
  const auto inventory = read_inventory(saved.images);
  if (!inventory) return refuse("{}", inventory.error().message());
  Obstacles obstacles;
  TRY(check_images({.directory = saved.images,
                    .inventory = *inventory,
                    .config = saved.config,
                    .has_cgroups = saved.has_cgroups},
                   obstacles));
  if (!obstacles.empty()) return refuse("{}", obstacles.front());
  const int init = saved.record.init_pid;
  TRY_ASSIGN(const auto pinned, linux::pin_namespaces(saved.config.namespaces));
  TRY_ASSIGN(const auto opened, open_streams(saved.procfs, init));
  const std::vector<Fd> streams(opened.begin(), opened.end());
  TRY_ASSIGN(const auto pids, linux::restored_processes(saved.procfs, init));
  return compare_restored({.config = saved.config,
                           .record = saved.record,
                           .procfs = saved.procfs,
                           .pinned = pinned,
                           .streams = streams,
                           .images = saved.images},
                          init, pids);
}

}  // namespace ocirun::runtime
