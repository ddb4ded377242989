#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"

namespace ocirun::linux {

/// A set of capabilities, bit N is capability N of <linux/capability.h>.
class CapabilitySet {
 public:
  void add(unsigned capability) { bits_ |= std::uint64_t{1} << capability; }
  bool has(unsigned capability) const { return (bits_ >> capability) & 1U; }
  bool empty() const { return bits_ == 0; }
  std::uint64_t bits() const { return bits_; }
  static CapabilitySet from_bits(std::uint64_t bits) {
    CapabilitySet set;
    set.bits_ = bits;
    return set;
  }
  friend bool operator==(CapabilitySet, CapabilitySet) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// process.capabilities (P-10); all empty when the field is absent (P-11).
struct CapabilitySets {
  CapabilitySet bounding{}, effective{}, inheritable{}, permitted{}, ambient{};
  friend bool operator==(const CapabilitySets&, const CapabilitySets&) = default;
};

/// The number of "CAP_NET_ADMIN"; nothing for a name that this build does not know.
std::optional<unsigned> capability_number(std::string_view name);
std::string capability_name(unsigned capability);
/// All names, by number: features' linux.capabilities (F-6).
std::vector<std::string> capability_names();

/// The capabilities that the calling thread can pass on: its bounding and permitted sets.
struct GrantableCapabilities {
  CapabilitySet bounding{}, permitted{};
};
/// Reads the capabilities that the calling thread can pass on. Of the bounding set, reads only the
/// capabilities in `asked`, because each takes a system call.
Result<GrantableCapabilities> grantable_capabilities(CapabilitySet asked);
/// `wanted` without the capabilities that the host cannot grant (P-10), and without those that the
/// kernel refuses because sets contradict each other: effective but not permitted, inheritable but
/// not bounding, ambient but not both permitted and inheritable (P-12).
CapabilitySets limit_to_grantable(const CapabilitySets& wanted,
                                  const GrantableCapabilities& grantable);

/// The capabilities that limit_to_grantable() takes away. One in `missing` is in no other set.
struct UngrantedCapabilities {
  CapabilitySet missing{};                              // the runtime itself does not have them
  CapabilitySet effective{}, inheritable{}, ambient{};  // missing from another set of the config
};
UngrantedCapabilities find_ungranted(const CapabilitySets& wanted,
                                     const GrantableCapabilities& grantable);
/// One sentence for each reason, with the names of the capabilities. Leaves out the capabilities in
/// `told`, of which the user was warned before.
std::vector<std::string> describe_ungranted(const UngrantedCapabilities& ungranted,
                                            const UngrantedCapabilities& told = {});

/// Drops every capability that is not in `keep` from the calling thread's bounding set (up to
/// cap_last_cap).
Result<void> drop_bounding_set(CapabilitySet keep);
/// Sets the supplementary groups of the calling thread to exactly `groups`; an empty list clears
/// them (P-21). Errors: EPERM (the user namespace denies setgroups, or no CAP_SETGID), EINVAL (not
/// mapped).
Result<void> set_groups(std::span<const Gid> groups);
/// setresgid and setresuid, keeping the permitted capabilities. Errors: EINVAL (not mapped), EPERM.
Result<void> become_user(Uid uid, Gid gid);
/// Sets exactly these sets on the calling thread, the ambient set last.
Result<void> set_capabilities(const CapabilitySets& sets);

}  // namespace ocirun::linux
