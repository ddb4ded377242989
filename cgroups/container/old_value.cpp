#include "cgroups/container/old_value.hpp"

#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {
namespace {

/// Files with one line for each device, and the value that clears a device's line.
struct Keyed {
  std::string_view file;  // or its beginning
  std::string_view cleared;
};
constexpr Keyed kKeyed[] = {
    {"blkio.throttle.", "0"},
    {"blkio.weight_device", "0"},
    {"blkio.leaf_weight_device", "0"},
    {"blkio.bfq.weight_device", "default"},
    {"io.bfq.weight", "default"},
    {"io.weight", "default"},
    {"io.max", "rbps=max wbps=max riops=max wiops=max"},
    {"io.latency", "target=0"},
    {"rdma.max", "hca_handle=max hca_object=max"},
    {"misc.max", "max"},
    {"net_prio.ifpriomap", "0"},
};

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// The line of `text` whose first word is `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : words(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') return line;
  return {};
}

}  // namespace

std::string restoring_value(std::string_view file, std::string_view text, std::string_view value) {
  // The text is "oom_kill_disable 1" and then lines of counters.
  if (file == "memory.oom_control")
    return std::string(text.substr(text.find_last_of(' ', text.find('\n')) + 1, 1));
  const auto row = std::ranges::find_if(
      kKeyed, [&](const Keyed& keyed) { return file.starts_with(keyed.file); });
  if (row == std::end(kKeyed)) return text.empty() ? "\n" : std::string(text);  // cpuset: none
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos) {  // the default weight, not one device's
    const std::string_view line = line_of(text, "default");
    return std::string(line.empty() ? first_line(text) : line);
  }
  const std::string_view key = value.substr(0, blank);
  const std::string_view line = line_of(text, key);
  return line.empty() ? fmt::format("{} {}", key, row->cleared) : std::string(line);
}

std::optional<Write> old_value(const Directory& directory, const Write& write) {
  Write old{.controller = write.controller,
            .file = write.file,
            .value = write.value,
            .pointer = write.pointer,
            .if_missing = IfMissing::kPassOver};
  Result<std::string> text = directory.read(write.file);
  if (!text && !write.other_file.empty()) {
    old.file = write.other_file;
    old.value = write.other_value;
    text = directory.read(old.file);
  }
  if (!text) return std::nullopt;
  while (text->ends_with('\n')) text->pop_back();
  old.value = restoring_value(old.file, *text, old.value);
  return old;
}

}  // namespace ocirun::cgroups
