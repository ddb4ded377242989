#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linux/seccomp/condition.hpp"

namespace ocirun::linux {

/// One way to make a system call. Some architectures have two: the call's own number, and
/// socketcall(2) or ipc(2), whose first argument says which call is meant.
struct EntryPoint {
  std::uint32_t number = 0;
  std::optional<Condition> selector;  // for socketcall and ipc: on that first argument
};

/// The entry points of the system calls of one architecture (SCMP_ARCH_*), from libseccomp's
/// tables.
class EntryPoints {
 public:
  explicit EntryPoints(std::uint32_t architecture) : architecture_(architecture) {}

  /// Empty if the architecture lacks the call.
  std::vector<EntryPoint> of(const std::string& name);

 private:
  std::optional<std::uint32_t> own_number(const std::string& name);

  std::uint32_t architecture_;
  std::optional<std::map<std::string, std::uint32_t>> own_numbers_;  // read at the first need
};

}  // namespace ocirun::linux
