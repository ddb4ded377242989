#include "pods/prepare/prepare.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/scheduling.hpp"
#include "pods/prepare/devices.hpp"
#include "pods/prepare/plan/admission.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostBytesOfCgroupFile = 65536;

/// MemAvailable of /proc/meminfo, in bytes.
Result<std::uint64_t> available_memory(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string text, procfs.read("meminfo"));
  for (const std::string_view line : linux::split(text, '\n')) {
    const auto words = linux::words(line);
    if (words.size() < 2 || words[0] != "MemAvailable:") continue;
    if (const auto kibibytes = linux::number(words[1])) return *kibibytes * 1024;
  }
  return refuse("the kernel does not tell how much memory is available");
}

/// A number in a file of a cgroup; nothing if the file is absent or says "max".
std::optional<std::uint64_t> number_in(Fd cgroup, const char* file) {
  const auto text = linux::read_file(cgroup, file, kMostBytesOfCgroupFile);
  if (!text) return std::nullopt;
  return linux::number(std::string_view(*text).substr(0, text->find('\n')));
}

/// The memory that the limits of a cgroup and of the cgroups above leave, at most `most`. The files
/// have other names in v1 and v2.
std::uint64_t least_left(const cgroups::Hierarchy& hierarchy, std::uint64_t most) {
  const char* limit_file = hierarchy.unified ? "memory.max" : "memory.limit_in_bytes";
  const char* usage_file = hierarchy.unified ? "memory.current" : "memory.usage_in_bytes";
  std::string path = hierarchy.own_path;
  for (;;) {
    const auto cgroup =
        sys::open((hierarchy.mount_point.string() + path).c_str(), O_PATH | O_DIRECTORY);
    if (cgroup) {
      const auto limit = number_in(*cgroup, limit_file);
      const auto usage = number_in(*cgroup, usage_file);
      if (limit && usage) most = std::min(most, *limit > *usage ? *limit - *usage : 0);
    }
    if (path.empty() || path == "/") return most;
    path.resize(path.rfind('/'));
  }
}

/// The resources that the machine can give: the CPUs that the caller may use, and the available
/// memory, or what the limits of the caller's cgroups leave of it. `extended` is --extended.
Result<Capacity> read_capacity(const std::map<std::string, std::string>& extended) {
  Capacity capacity;
  capacity.extended = extended;
  OCIRUN_TRY_ASSIGN(const std::size_t cpus, linux::count_cpus());
  capacity.cpus = static_cast<double>(cpus);
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kFull));
  OCIRUN_TRY_ASSIGN(capacity.memory, available_memory(procfs));
  const auto layout = cgroups::read_layout(procfs);
  if (!layout) return capacity;  // a machine without cgroups limits nothing
  for (const cgroups::Hierarchy& hierarchy : layout->hierarchies) {
    const bool has_memory =
        hierarchy.unified ||
        std::ranges::find(hierarchy.controllers, "memory") != hierarchy.controllers.end();
    if (has_memory) capacity.memory = least_left(hierarchy, capacity.memory);
  }
  return capacity;
}

}  // namespace

Result<void> admit(const Completed& completed) {
  const Workload& workload = completed.workload();
  const Given& given = completed.given();
  OCIRUN_TRY_ASSIGN(const Capacity capacity, read_capacity(given.extended));
  std::vector<std::string> sentences;
  for (const Shortage& shortage : find_shortages(workload.pod, capacity))
    sentences.push_back(fmt::format("{}: {}", workload.at(shortage.place), shortage.sentence));
  if (const auto devices = prepare_devices(workload, given, ""); !devices)
    sentences.push_back(devices.error().message());
  if (sentences.empty()) return {};
  return refuse("{}", fmt::join(sentences, "; "));
}

}  // namespace ocirun::pods
