#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// What a missing file, or a missing controller, means for a write.
enum class IfMissing {
  kError,
  kPassOver,  // the value is "no limit", which a kernel without the file gives anyway
  // The kernel has given such limits up: the container does without, and somebody is told.
  // The value is read back, for some kernels take the write and do nothing.
  kDrop,
};

/// One value for one file: what a field of linux.resources turns into.
struct Write {
  std::string controller;  // whose directory; "" for the unified hierarchy's own files
  std::string file;
  std::string value;
  std::string pointer;  // of the field, "/linux/resources/memory/limit"
  IfMissing if_missing = IfMissing::kError;
  // Written instead where `file` does not exist (bfq or not).
  std::string other_file = {}, other_value = {};
  friend bool operator==(const Write&, const Write&) = default;
};

/// Where a controller is to be found.
enum class Home { kNowhere, kV1, kUnified };

/// What planning has to know of the host.
struct Host {
  std::function<Home(std::string_view controller)> home;
  bool has_v1 = false;       // any hierarchy is v1: messages speak of it
  bool has_unified = false;  // R-43 wants it
  /// What a file of the unified cgroup holds now, "" if nothing: for values that share a file with
  /// one that is left alone ("cpu.max" holds quota and period).
  std::function<std::string(const std::string& file)> current;
};

/// The writes that apply `resources` (devices apart), each in its place, in order; a write that the
/// kernel refuses with EINVAL because a sibling still has its old value is to be tried again after
/// them. Pure: tested without a kernel. Errors: values that contradict each other, limits that have
/// no counterpart in v2, controllers that the host lacks, each by its JSON pointer.
Result<std::vector<Write>> plan(const Resources& resources, const Host& host);

/// The sections that plan() is made of, one controller each (plan_cpu.cpp, plan_memory.cpp …).
using Writes = std::vector<Write>;
Result<void> plan_cpu_v1(const Resources& resources, Writes& writes);
Result<void> plan_cpu_v2(const Resources& resources, const Host& host, Writes& writes);
Result<void> plan_memory_v1(const Resources& resources, Writes& writes);
Result<void> plan_memory_v2(const Resources& resources, const Host& host, Writes& writes);
Result<void> plan_block_io_v1(const Resources& resources, Writes& writes);
Result<void> plan_block_io_v2(const Resources& resources, Writes& writes);
Result<void> plan_network(const Resources& resources, Writes& writes);
/// `unified`: keys checked, multi-line values split.
Result<void> plan_unified(const Resources& resources, const Host& host, Writes& writes);

/// The rules that hold on every kernel and between values: swap against limit, burst against quota,
/// which a merge of two documents may break; and that what becomes part of a file's name or of a
/// line is one word. Ranges of single numbers are the reader's (bundle/config/parse_resources.cpp).
Result<void> check_resources(const Resources& resources);

}  // namespace ocirun::cgroups
