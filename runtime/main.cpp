#include "runtime/cli/command.hpp"
#ifdef OCIRUN_CRIU
#include "criu/cli/table.hpp"
#endif

namespace cli = ocirun::runtime::cli;

int main(int argc, char** argv) {
#ifdef OCIRUN_CRIU
  cli::add_commands(cli::kCriuCommands);
#endif
  return cli::run_command_line(argc, argv);
}
