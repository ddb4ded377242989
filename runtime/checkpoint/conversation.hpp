#pragma once

#include <functional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/checkpoint/criu_program.hpp"
#include "runtime/base/log.hpp"
#include "runtime/checkpoint/progress.hpp"

namespace ocirun::runtime {

/// Called when CRIU has reached `news.stage` and waits. An error makes CRIU undo its work; it is
/// the error of the conversation then. CRIU undoes nothing any more at the stage pre-resume: the
/// callback has to kill the restored processes before it returns an error, and CRIU is killed.
using OnStage = std::function<Result<void>(linux::CriuNews& news)>;

/// Runs CRIU for one request, until it has succeeded or failed. A signal that asks this command
/// to end makes CRIU undo its work. `progress` has no line while `on_stage` runs. Errors: that of
/// `on_stage`; CRIU's; EINTR.
Result<void> talk_with_criu(const linux::CriuLaunch& launch, std::vector<std::string> words,
                            const Log& log, const OnStage& on_stage, Progress& progress);

}  // namespace ocirun::runtime
