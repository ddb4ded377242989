#include "criu/cli/table.hpp"

#include "criu/cli/checkpoint.hpp"
#include "criu/cli/options.hpp"
#include "criu/launch/criu_program.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::runtime::cli {
namespace {

constexpr std::array kCommands{
    Command{{"checkpoint",
             "ID",
             "save a running container to a directory of images",
             kCheckpointOptions,
             {1, 1},
             {Operand{Completes::kContainer, can_checkpoint}}},
            run_checkpoint},
    Command{{"restore",
             "ID",
             "make a container from images, in which its program goes on",
             kRestoreOptions,
             {1, 1}},
            run_restore,
            Executable::kSealed},
};
static_assert(kCommands.size() <= kMostAdded);

bool has_programs(const GlobalOptions& options) {
  return linux::find_criu(options.criu) && linux::find_own_program("ocirun-criu");
}

}  // namespace

constinit const AddedCommands kCriuCommands{.commands = kCommands, .can_checkpoint = has_programs};

}  // namespace ocirun::runtime::cli
