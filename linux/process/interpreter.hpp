#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The kind of a program file, by its first bytes, as execve(2) sees it.
struct Program {
  enum class Kind { kOther, kScript, kElf };
  Kind kind = Kind::kOther;
  /// The path on the #! line, or the path of an ELF file's loader (PT_INTERP). "" when there is
  /// none or when the kernel would not accept it: cut off, longer than PATH_MAX, without its NUL.
  std::string interpreter = {};
  /// The machine of an ELF file, as uname(1) names it: "aarch64"; for unknown ones "machine 4660".
  std::string machine = {};
};

/// Reads the beginning of a file as the kernel's load_script() and load_elf_binary() do: a #! line
/// of at most 256 bytes, ELF of 32 and 64 bits in either byte order, at most 64 KiB of program
/// headers. The file may be hostile. Errors: those of pread(2).
Result<Program> read_program(Fd file);

/// Explains why execve(2) of `path` failed with `number`: ENOENT although the file exists, ENOEXEC,
/// or EACCES. The text begins with ": ", so that it can be appended to the name of the file:
///   : its interpreter /usr/bin/python3 does not exist in the container
///   : its loader /lib/ld-musl-x86_64.so.1 does not exist in the container
///   : it is a program for aarch64
///   : it is neither a program for this machine nor a script with a #! line
///   : it has no x bit for user 1000 (its mode is 0644: chmod +x in the image or volume)
///   : its interpreter /srv/tool lies on a mount with the option noexec
///   : it is a directory, not a program
/// An interpreter that is itself a script is followed as far as the kernel follows it. `place` is
/// "in the container" or "on the host"; with "" no file is read. The calling process reads the
/// files (openat, fstat, pread64; for EACCES also newfstatat, statfs, faccessat, geteuid), with its
/// own ids and in its own root. Returns "" where the files explain nothing or may not be read, and
/// for other errors.
std::string explain_exec(const std::string& path, int number, std::string_view place);

}  // namespace ocirun::linux
