#include "linux/process/command_line.hpp"
#include "runtime/cli/command.hpp"

int main(int argc, char** argv) {
  ocirun::linux::remember_command_line(argc, argv);
  return ocirun::runtime::cli::run_command_line(argc, argv);
}
