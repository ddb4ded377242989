// Any bytes as the beginning of an image's executable. The interpreter that is found must be a path
// that execve(2) accepts: shorter than PATH_MAX and without NUL.
#include "linux/process/interpreter.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <climits>

#include "linux/base/file_io.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const UniqueFd file(::memfd_create("executable", MFD_CLOEXEC));
  fuzz::require(::ftruncate(file.get(), 0) == 0 && ::lseek(file.get(), 0, SEEK_SET) == 0);
  fuzz::require(linux::write_all(file, fuzz::text_of(data, size)).has_value());
  const auto program = linux::read_program(file);
  if (!program) return 0;
  fuzz::require(program->interpreter.size() < PATH_MAX);
  fuzz::require(program->interpreter.find('\0') == std::string::npos);
  fuzz::require(program->machine.empty() == (program->kind != linux::Program::Kind::kElf));
  return 0;
}
