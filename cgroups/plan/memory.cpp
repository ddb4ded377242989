#include "cgroups/hierarchies/text.hpp"

#include <fmt/format.h>
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {
namespace {

constexpr const char* kLimit = "/linux/resources/memory/limit";
constexpr const char* kReservation = "/linux/resources/memory/reservation";
constexpr const char* kSwap = "/linux/resources/memory/swap";
constexpr std::int64_t kUnlimited = -1;

/// Returns nothing for 0: clients send 0 for a limit that an update must not change.
std::optional<std::int64_t> given(std::optional<std::int64_t> bytes) {
  return bytes == 0 ? std::nullopt : bytes;
}

/// The requested limit of memory and swap together. If memory is unlimited and swap has no value,
/// swap is unlimited too.
std::optional<std::int64_t> swap_asked(const Memory& memory) {
  if (given(memory.swap)) return memory.swap;
  return memory.limit == kUnlimited ? memory.limit : std::nullopt;
}

IfMissing unless_unlimited(std::int64_t bytes) {
  return bytes == kUnlimited ? IfMissing::kPassOver : IfMissing::kError;
}

}  // namespace

Result<void> plan_memory_v1(const Resources& resources, Writes& writes) {
  if (!resources.memory) return {};
  const Memory& memory = *resources.memory;
  const auto add = [&](const char* file, std::string value, const char* pointer,
                       IfMissing if_missing) {
    writes.push_back({.controller = "memory",
                      .file = file,
                      .value = std::move(value),
                      .pointer = pointer,
                      .if_missing = if_missing});
  };
  const auto bytes = [&](const char* file, std::optional<std::int64_t> value, const char* pointer) {
    if (given(value)) add(file, fmt::to_string(*value), pointer, unless_unlimited(*value));
  };
  const auto obsolete = [&](const char* file, std::optional<std::int64_t> value,
                            const char* pointer) {
    if (given(value))
      add(file, fmt::to_string(*value), pointer,
          *value == kUnlimited ? IfMissing::kPassOver : IfMissing::kDrop);
  };

  // memory.use_hierarchy comes first: the kernel refuses the write once the cgroup has children.
  if (memory.use_hierarchy)
    add("memory.use_hierarchy", *memory.use_hierarchy ? "1" : "0",
        "/linux/resources/memory/useHierarchy",
        *memory.use_hierarchy ? IfMissing::kPassOver : IfMissing::kError);
  // Higher limits need the write to memory.memsw first, lower limits the write to memory first.
  // apply_writes() repeats, after the other writes, a write that fails with EINVAL.
  bytes("memory.limit_in_bytes", memory.limit, kLimit);
  bytes("memory.memsw.limit_in_bytes", swap_asked(memory), kSwap);
  bytes("memory.soft_limit_in_bytes", memory.reservation, kReservation);
  obsolete("memory.kmem.limit_in_bytes", memory.kernel, "/linux/resources/memory/kernel");
  obsolete("memory.kmem.tcp.limit_in_bytes", memory.kernel_tcp,
           "/linux/resources/memory/kernelTCP");
  if (memory.swappiness)
    add("memory.swappiness", fmt::to_string(*memory.swappiness),
        "/linux/resources/memory/swappiness", IfMissing::kError);
  if (memory.disable_oom_killer)
    add("memory.oom_control", *memory.disable_oom_killer ? "1" : "0",
        "/linux/resources/memory/disableOOMKiller",
        *memory.disable_oom_killer ? IfMissing::kError : IfMissing::kPassOver);
  return {};
}

namespace {

/// Refuses the settings that cgroup v2 lacks (R-14 … R-17). Values that ask for no change, such as
/// 0 or -1, pass.
Result<void> refuse_v1_only(const Memory& memory) {
  const auto no = [](const char* field, const char* instead) {
    return refuse("/linux/resources/memory/{}: cgroup v2 has no such setting; {}", field, instead);
  };
  if (memory.kernel.value_or(0) > 0) return no("kernel", "leave it out or give -1 for unlimited");
  if (memory.kernel_tcp.value_or(0) > 0)
    return no("kernelTCP", "leave it out or give -1 for unlimited");
  if (memory.swappiness.value_or(0) != 0) return no("swappiness", "leave it out or give 0");
  if (memory.disable_oom_killer.value_or(false))
    return no("disableOOMKiller", "leave it out or give false");
  if (!memory.use_hierarchy.value_or(true))
    return no("useHierarchy", "it is always true there: leave it out or give true");
  return {};
}

/// Converts v1's limit of memory plus swap to v2's limit of swap alone.
Result<std::string> swap_alone(const Memory& memory, std::int64_t swap, const Host& host) {
  if (swap == kUnlimited) return "max";
  std::optional<std::int64_t> limit = given(memory.limit);
  if (!limit)  // an update without a memory limit: use the cgroup's present limit
    if (const auto now = number(host.current("memory.max")))
      limit = static_cast<std::int64_t>(*now);
  if (!limit || *limit == kUnlimited)
    return refuse("{}: a limit on memory and swap needs a limit on memory: give {} too", kSwap,
                  kLimit);
  if (swap < *limit)
    return refuse("{}: {} counts memory too and must not be below the memory limit of {} bytes",
                  kSwap, swap, *limit);
  return fmt::to_string(swap - *limit);
}

}  // namespace

Result<void> plan_memory_v2(const Resources& resources, const Host& host, Writes& writes) {
  if (!resources.memory) return {};
  const Memory& memory = *resources.memory;
  OCIRUN_TRY(refuse_v1_only(memory));
  const auto add = [&](const char* file, std::string value, const char* pointer,
                       std::string_view no_limit) {
    const IfMissing if_missing =
        value == "max" || value == no_limit ? IfMissing::kPassOver : IfMissing::kError;
    writes.push_back({.controller = "memory",
                      .file = file,
                      .value = std::move(value),
                      .pointer = pointer,
                      .if_missing = if_missing});
  };

  if (memory.check_before_update.value_or(false) && memory.limit.value_or(0) > 0) {
    const auto usage = number(host.current("memory.current"));
    if (usage && *usage > static_cast<std::uint64_t>(*memory.limit))
      return fail(EBUSY, "{}: {} is below the {} bytes that the container uses now", kLimit,
                  *memory.limit, *usage);
  }
  if (const auto swap = swap_asked(memory)) {
    OCIRUN_TRY_ASSIGN(std::string value, swap_alone(memory, *swap, host));
    // Without swap accounting, memory.swap.max does not exist: "0" and "max" are passed over.
    add("memory.swap.max", std::move(value), kSwap, "0");
  }
  if (given(memory.limit)) add("memory.max", or_max(*memory.limit), kLimit, "max");
  if (given(memory.reservation))
    add("memory.low", or_max(*memory.reservation), kReservation, "max");
  return {};
}

}  // namespace ocirun::cgroups
