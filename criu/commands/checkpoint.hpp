#pragma once

#include <optional>
#include <string>

#include "criu/request/options.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime {

/// What happens to the container when its images are written. kEnd: the container is stopped, as if
/// it had ended. kRuns (--leave-running): the container runs on. kIsFollowed (--pre-dump): only the
/// memory is saved, the container runs on, and a later dump saves the changes since then.
enum class Afterwards { kEnd, kRuns, kIsFollowed };

struct CheckpointRequest {
  CriuSettings settings;
  Afterwards afterwards = Afterwards::kEnd;
  std::optional<std::string> parent_path;  // relative to the images
  // --status-fd: gets a zero byte when CRIU serves pages, with --lazy-pages.
  Fd status{};
};

/// Saves a running container to images with CRIU. On an error the container runs on. Errors: CRIU's
/// with what its log says; the caller is not the host's root; the container is not running or
/// paused.
Result<void> checkpoint_container(const GlobalOptions& options, const ContainerId& id,
                                  const CheckpointRequest& request, const Log& log);

/// Refuses a caller who is not root of the host.
Result<void> refuse_ordinary_user();

}  // namespace ocirun::runtime
