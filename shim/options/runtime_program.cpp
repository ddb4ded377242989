#include "shim/options/runtime_program.hpp"

#include <fcntl.h>

#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"
#include "linux/sealed/executable.hpp"

namespace ocirun::shim {
namespace {

constexpr char kOwnRuntime[] = "ocirun";
constexpr char kDefaultRoot[] = "/run/containerd/ocirun";

}  // namespace

Result<std::string> find_runtime(const std::string& binary_name) {
  if (binary_name.starts_with('/')) return binary_name;
  if (binary_name.contains('/'))
    return refuse("BinaryName \"{}\": must be an absolute path, or a name in PATH", binary_name);
  const std::string name = binary_name.empty() ? kOwnRuntime : binary_name;
  if (binary_name.empty()) {
    std::string beside = fmt::format("{}/{}", linux::executable_directory(), name);
    if (linux::sys::open(beside.c_str(), O_PATH)) return beside;
  }
  std::string found = linux::find_program(name);
  if (found.empty())
    return refuse(
        "the runtime {} is in no directory of containerd's PATH: install it, or name its "
        "path as BinaryName in the runtime's options",
        name);
  return found;
}

std::string runtime_root(const std::string& root, const std::string& container_namespace) {
  return fmt::format("{}/{}", root.empty() ? kDefaultRoot : root, container_namespace);
}

}  // namespace ocirun::shim
