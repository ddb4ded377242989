#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// How a write reacts to a missing file or a missing controller.
enum class IfMissing {
  kError,
  kPassOver,  // the write is skipped: it asks for no limit, or another write sets the same limit
  // The kernel no longer has this limit: the container runs without it, and the caller is
  // told (OnDroppedLimit). The value is read back after the write, because some kernels accept the
  // write and ignore it.
  kDrop,
};

/// One value for one file. A field of linux.resources becomes one or more writes.
struct Write {
  std::string controller;  // the file's; "" for a file of no controller, such as cgroup.max.depth
  std::string file;
  std::string value;
  std::string pointer;  // of the field, "/linux/resources/memory/limit"
  IfMissing if_missing = IfMissing::kError;
  // Written instead where `file` does not exist, as for weights with and without the bfq scheduler.
  std::string other_file = {}, other_value = {};
  friend bool operator==(const Write&, const Write&) = default;
};

/// The kind of hierarchy in which a controller is available.
enum class Home { kNowhere, kV1, kUnified };

/// The facts about the host that plan() needs.
struct Host {
  std::function<Home(std::string_view controller)> home;
  bool has_v1 = false;       // at least one v1 hierarchy is mounted: error messages mention v1 then
  bool has_unified = false;  // the unified hierarchy is mounted, which `unified` needs
  /// The present content of a file of the unified cgroup; "" if there is none. Needed where two
  /// values share a file and only one of them changes ("cpu.max" holds quota and period).
  std::function<std::string(const std::string& file)> current;
};

/// The writes that apply `resources` (devices apart), in order. The kernel may refuse a write with
/// EINVAL because another limit still has its old value; apply_writes() then tries it again later.
/// Pure: tested without a kernel. Errors, each with its JSON pointer: values that contradict each
/// other, limits that have no counterpart in v2, controllers that the host lacks.
Result<std::vector<Write>> plan(const Resources& resources, const Host& host);

/// The sections of plan(), one for each controller (cpu.cpp, memory.cpp …).
using Writes = std::vector<Write>;
Result<void> plan_cpu_v1(const Resources& resources, Writes& writes);
Result<void> plan_cpu_v2(const Resources& resources, const Host& host, Writes& writes);
Result<void> plan_memory_v1(const Resources& resources, Writes& writes);
Result<void> plan_memory_v2(const Resources& resources, const Host& host, Writes& writes);
Result<void> plan_block_io_v1(const Resources& resources, Writes& writes);
Result<void> plan_block_io_v2(const Resources& resources, Writes& writes);
Result<void> plan_network(const Resources& resources, Writes& writes);
/// /linux/resources/unified: checks the keys and splits values of several lines into one write
/// each.
Result<void> plan_unified(const Resources& resources, const Host& host, Writes& writes);

/// Checks the rules between values, which hold on every kernel: swap against limit, burst against
/// quota. A merge of two valid documents can break these. Also checks that every text that becomes
/// a part of a file name or of a line is one word. The ranges of single numbers are checked when
/// config.json is read (bundle/config/parse_resources.cpp).
Result<void> check_resources(const Resources& resources);

/// Converts cpu.shares (2 … 262144) to cpu.weight (1 … 10000), R-20: the curve through (2, 1),
/// (1024, 100) and (262144, 10000). Values outside the range are clamped to it.
std::uint64_t cpu_weight(std::uint64_t shares);

/// Converts blkio.weight (10 … 1000) to io.weight (1 … 10000), linearly, R-30.
std::uint64_t io_weight(std::uint64_t blkio_weight);

/// "max" for -1, else the number as text.
std::string or_max(std::int64_t limit);

}  // namespace ocirun::cgroups
