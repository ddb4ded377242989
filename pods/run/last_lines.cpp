#include "pods/run/last_lines.hpp"

#include <fcntl.h>

#include "linux/base/syscalls.hpp"
#include "pods/logs/reader.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint64_t kLines = 10;

bool has_kept_from_start(const ContainerRecord& container) {
  if (container.started_at.empty() || container.ready || container.exit_code == 0) return false;
  return !container.is_init || container.exit_code;
}

}  // namespace

void tell_last_lines(const PodRecord& record, const LastLines& tell) {
  if (!tell) return;
  const auto logs = linux::sys::open(record.log_directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!logs) return;
  for (const ContainerRecord& container : record.containers) {
    if (!has_kept_from_start(container)) continue;
    std::vector<std::string> lines;
    const LogQuery query{.since = {}, .tail = kLines, .follow = false};
    // A log that cannot be read tells nothing: the error of the start is told in any case.
    static_cast<void>(
        read_log(*logs, container.id, query, [&](const LogLine& line) -> Result<void> {
          lines.push_back(line.text);
          return {};
        }));
    tell(container.name, lines);
  }
}

}  // namespace ocirun::pods
