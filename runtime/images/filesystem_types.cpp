#include "runtime/images/filesystem_types.hpp"

#include <algorithm>

namespace ocirun::runtime {
namespace {

constexpr FilesystemType kTypes[] = {
    {"proc", Showing::kKernels},    {"sysfs", Showing::kKernels},
    {"mqueue", Showing::kKernels},  {"pstore", Showing::kKernels},
    {"fusectl", Showing::kKernels}, {"securityfs", Showing::kKernels},
    {"debugfs", Showing::kKernels}, {"tracefs", Showing::kKernels},
    {"autofs", Showing::kKernels},  {"tmpfs", Showing::kNew},
    {"devpts", Showing::kNew},      {"cgroup", Showing::kCgroups},
    {"cgroup2", Showing::kCgroups},
};

}  // namespace

std::span<const FilesystemType> mountable_types() { return kTypes; }

std::optional<Showing> showing_of(std::string_view type) {
  const auto found = std::ranges::find(kTypes, type, &FilesystemType::name);
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->showing);
}

}  // namespace ocirun::runtime
