#include "runtime/cli/command.hpp"

int main(int argc, char** argv) { return ocirun::runtime::cli::run_command_line(argc, argv); }
