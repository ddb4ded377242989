#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// What execve(2) finds in the first bytes of a file.
struct Program {
  enum class Kind { kOther, kScript, kElf };
  Kind kind = Kind::kOther;
  /// The path on the #! line, or that of an ELF file's loader (PT_INTERP). "" when there is none,
  /// or none that the kernel would take: cut off, longer than PATH_MAX, without its NUL.
  std::string interpreter = {};
  /// What an ELF file is made for, as uname(1) calls it: "aarch64"; else "machine 4660".
  std::string machine = {};
};

/// Reads a file's beginning as load_script() and load_elf_binary() of the kernel do: a #! line of
/// 256 bytes, ELF of 32 and 64 bits in either byte order, program headers of 64 KiB. The file may
/// be hostile. Errors: that of pread(2).
Result<Program> read_program(Fd file);

/// Why execve(2) of `path` gave `number`, where that is ENOENT of a file that exists or ENOEXEC; it
/// begins with ": ", to be put behind what could not be executed:
///   : its interpreter /usr/bin/python3 does not exist in the container
///   : its loader /lib/ld-musl-x86_64.so.1 does not exist in the container
///   : it is a program for aarch64
///   : it is neither a program for this machine nor a script with a #! line
/// An interpreter that is a script itself is followed as far as the kernel follows it. `place` is
/// "in the container" or "on the host"; with "" nothing is looked at. The calling process looks
/// (openat, fstat, pread64), with its own ids and in its own root. "" where that tells nothing, for
/// other errors, or where the files may not be read.
std::string explain_exec(const std::string& path, int number, std::string_view place);

}  // namespace ocirun::linux
