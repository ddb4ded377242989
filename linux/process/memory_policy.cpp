#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/name_table.hpp"
#include "linux/process/scheduling.hpp"

namespace ocirun::linux {
namespace {

constexpr int kWeightedInterleave = 6;  // Linux 6.9

constexpr Named<int> kModes[] = {
    {"MPOL_DEFAULT", MPOL_DEFAULT},
    {"MPOL_BIND", MPOL_BIND},
    {"MPOL_INTERLEAVE", MPOL_INTERLEAVE},
    {"MPOL_WEIGHTED_INTERLEAVE", kWeightedInterleave},
    {"MPOL_PREFERRED", MPOL_PREFERRED},
    {"MPOL_PREFERRED_MANY", MPOL_PREFERRED_MANY},  // Linux 5.15
    {"MPOL_LOCAL", MPOL_LOCAL},
};

constexpr Named<unsigned> kFlags[] = {
    {"MPOL_F_NUMA_BALANCING", MPOL_F_NUMA_BALANCING},  // Linux 5.12
    {"MPOL_F_RELATIVE_NODES", MPOL_F_RELATIVE_NODES},
    {"MPOL_F_STATIC_NODES", MPOL_F_STATIC_NODES},
};

std::string_view advice(int error) {
  if (error == ENOSYS) return " (the kernel was built without NUMA)";
  if (error == EINVAL)
    return " (no node of the list is online and in the cpuset, mode and flags do not go together,"
           " or the kernel is too old for them)";
  return "";
}

}  // namespace

std::optional<int> memory_policy_mode(std::string_view name) { return value_of(kModes, name); }
std::optional<unsigned> memory_policy_flag(std::string_view name) { return value_of(kFlags, name); }
std::vector<std::string_view> memory_policy_modes() { return names_of(kModes); }
std::vector<std::string_view> memory_policy_flags() { return names_of(kFlags); }

Result<void> set_memory_policy(const MemoryPolicy& policy) {
  const auto& words = policy.nodes.words();
  const unsigned long* mask = words.empty() ? nullptr : words.data();
  // The maxnode argument of set_mempolicy(2) is the number of bits plus one.
  const unsigned long bits = words.empty() ? 0 : words.size() * sizeof(words[0]) * 8 + 1;
  const unsigned mode = static_cast<unsigned>(policy.mode) | policy.flags;
  if (::syscall(SYS_set_mempolicy, mode, mask, bits) == 0) return {};
  const int error = errno;
  return fail(error, "set memory policy {}{}", name_of(kModes, policy.mode), advice(error));
}

}  // namespace ocirun::linux
