#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

/// What the root filesystem of a container shows of its program before anything is started.
struct ProgramPlace {
  std::vector<std::string> mounted;  // the paths in the container at which something is mounted
  std::string name;                  // the first word of process.args
  std::string path;                  // the variable PATH of the program; "": none
  std::string cwd;                   // absolute
};

/// Looks for the program as execvp(3) will in the container, with `root` as "/". A file below a
/// mount is not looked at, and the program then counts as found, as without PATH, or when the image
/// has so long paths that the walk takes more than 10,000 steps. Errors, in the
/// words of the runtime: ENOENT: no such file; EACCES: a directory, or a file that nobody may
/// execute; without a number: no directory of PATH has the file.
Result<void> look_program_up(const ProgramPlace& place, const linux::SafeDir& root);

/// Looks for the program of the bundle in `directory`, an absolute path, whose root filesystem is
/// made. A hook may bring a program: with hooks, the program counts as found. Errors: those of
/// look_program_up(); config.json cannot be read.
Result<void> check_program(const std::string& directory);

}  // namespace ocirun::pods
