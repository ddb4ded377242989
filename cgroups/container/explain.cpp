#include "cgroups/container/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <cerrno>

#include "cgroups/statistics/read.hpp"

namespace ocirun::cgroups {
namespace {

using Reason = std::string (*)(const Directory&);

std::string with_parent(const Directory& directory, const char* file, const char* format) {
  const Result<Directory> parent =
      Directory::open(directory.path().substr(0, directory.path().rfind('/')));
  const std::string value = parent ? parent->read_or_empty(file) : "";
  return value.empty() ? "" : fmt::format(fmt::runtime(format), value);
}

std::string page_sizes(const Directory& directory) {
  const std::vector<std::string> sizes = hugetlb_page_sizes(directory);
  return fmt::format("this host has huge pages of {}",
                     sizes.empty() ? "no size" : fmt::to_string(fmt::join(sizes, ", ")));
}

struct Row {
  std::string_view file;  // a file name, or the beginning of file names
  int number;             // errno; 0: any
  Reason reason;
};

constexpr Row kReasons[] = {
    {"memory.limit_in_bytes", EBUSY,
     [](const Directory& d) {
       return fmt::format(
           "the container already uses {} bytes, and the kernel could not reclaim "
           "enough of them: give more, or stop something in it",
           d.read_or_empty("memory.usage_in_bytes"));
     }},
    {"memory.limit_in_bytes", EINVAL,
     [](const Directory& d) {
       return fmt::format(
           "must not be above the limit of memory and swap together, {} bytes: "
           "give /linux/resources/memory/swap too",
           d.read_or_empty("memory.memsw.limit_in_bytes"));
     }},
    {"memory.memsw.limit_in_bytes", EBUSY,
     [](const Directory& d) {
       return fmt::format("the container already uses {} bytes of memory and swap together",
                          d.read_or_empty("memory.memsw.usage_in_bytes"));
     }},
    {"memory.memsw.limit_in_bytes", EINVAL,
     [](const Directory& d) {
       return fmt::format("counts memory too and must not be below the memory limit, {} bytes",
                          d.read_or_empty("memory.limit_in_bytes"));
     }},
    {"memory.memsw.limit_in_bytes", ENOENT,
     [](const Directory&) {
       return std::string("this kernel does not account swap (boot it with swapaccount=1)");
     }},
    {"cpuset.", EBUSY,
     [](const Directory&) {
       return std::string("a cgroup of the container's own would be left with none of them");
     }},
    {"cpuset.cpus", 0,
     [](const Directory& d) {
       return with_parent(d, "cpuset.cpus", "the cgroup above allows the CPUs {}");
     }},
    {"cpuset.mems", 0,
     [](const Directory& d) {
       return with_parent(d, "cpuset.mems", "the cgroup above allows the memory nodes {}");
     }},
    {"cpu.rt_runtime_us", EINVAL,
     [](const Directory& d) {
       return with_parent(d, "cpu.rt_runtime_us",
                          "the cgroup above has {} microseconds of real-time runtime to give");
     }},
    {"cpu.cfs_burst_us", EINVAL,
     [](const Directory& d) {
       return fmt::format("must not be above the quota, {} microseconds",
                          d.read_or_empty("cpu.cfs_quota_us"));
     }},
    {"cpu.max.burst", EINVAL,
     [](const Directory& d) {
       return fmt::format("must not be above the quota (cpu.max is \"{}\")",
                          d.read_or_empty("cpu.max"));
     }},
    {"cpu.cfs_quota_us", EINVAL,
     [](const Directory& d) {
       return fmt::format(
           "the quota must be at least 1000 microseconds, the period between 1000 and 1000000, the "
           "quota's share not "
           "above that of the cgroup above, and not below the burst of {}",
           d.read_or_empty("cpu.cfs_burst_us"));
     }},
    {"cpu.cfs_", EINVAL,
     [](const Directory&) {
       return std::string(
           "the quota must be at least 1000 microseconds, the period between 1000 and 1000000, the "
           "quota's share not "
           "above that of the cgroup above");
     }},
    {"cpu.max", EINVAL,
     [](const Directory&) {
       return std::string(
           "the quota must be at least 1000 microseconds, the period between 1000 and 1000000, the "
           "quota not below "
           "the burst");
     }},
    {"cpu.shares", EINVAL,
     [](const Directory&) { return std::string("an idle cgroup has no shares"); }},
    {"cpu.weight", EINVAL,
     [](const Directory&) { return std::string("an idle cgroup has no weight"); }},
    {"hugetlb.", ENOENT, page_sizes},
    {"blkio.throttle.", ENODEV,
     [](const Directory&) { return std::string("no such block device"); }},
    {"blkio.leaf_weight", ENOENT,
     [](const Directory&) {
       return std::string("leaf weights went with the CFQ scheduler (Linux 5.0): leave it out");
     }},
    {"io.max", ENODEV, [](const Directory&) { return std::string("no such block device"); }},
    {"devices.allow", EPERM,
     [](const Directory&) { return std::string("the cgroup above does not allow it itself"); }},
    {"", ENOENT,
     [](const Directory& d) {
       return std::string(d.files().empty() ? "the cgroup is gone"
                                            : "this kernel has no such file");
     }},
};

}  // namespace

std::string explain_dropped(std::string_view pointer) {
  struct utsname kernel{};
  ::uname(&kernel);
  return fmt::format("{}: Linux {} no longer has this limit, so the container runs without it",
                     pointer, kernel.release);
}

std::string explain(const Directory& directory, const Write& write, int number) {
  for (const Row& row : kReasons)
    if (write.file.starts_with(row.file) && number != 0 &&
        (row.number == 0 || row.number == number))
      return row.reason(directory);
  return "";
}

}  // namespace ocirun::cgroups
