#include "criu/cli/table.hpp"

#include "criu/cli/checkpoint.hpp"
#include "criu/cli/options.hpp"
#include "criu/launch/criu_program.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::runtime::cli {
namespace {

constexpr std::array kCommands{
    Command{.name = "checkpoint",
            .operands = "ID",
            .summary = "save a running container to a directory of images",
            .options = kCheckpointOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_checkpoint,
            .completed_operands = {Operand{Completes::kContainer, can_checkpoint}}},
    Command{.name = "restore",
            .operands = "ID",
            .summary = "make a container from images, in which its program goes on",
            .options = kRestoreOptions,
            .least_operands = 1,
            .most_operands = 1,
            .run = run_restore,
            .executable = Executable::kSealed},
};

bool has_programs(const GlobalOptions& options) {
  return linux::find_criu(options.criu) && linux::find_own_program("ocirun-criu");
}

}  // namespace

constinit const AddedCommands kCriuCommands{.commands = kCommands, .can_checkpoint = has_programs};

}  // namespace ocirun::runtime::cli
