#include "bundle/config/annotations.hpp"

#include "linux/base/name_table.hpp"

namespace ocirun::bundle {

std::optional<std::string_view> image_annotation(const Annotations& annotations,
                                                 std::string_view name) {
  const auto found = annotations.find(std::string(name));
  if (found == annotations.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int> parse_stop_signal(std::string_view text) {
  const auto signal = linux::parse_signal(text);
  if (!signal || *signal == 0) return std::nullopt;
  return *signal;
}

std::optional<int> stop_signal(const Annotations& annotations) {
  return image_annotation(annotations, kStopSignal).and_then(parse_stop_signal);
}

bool is_criu_config(std::string_view value) { return value.empty() || value.starts_with('/'); }

Result<bool> is_true(const Annotations& annotations, const char* name) {
  const auto found = annotations.find(name);
  if (found == annotations.end() || found->second == "false") return false;
  if (found->second == "true") return true;
  return refuse("/annotations/{}: {:?}: must be \"true\" or \"false\"", name, found->second);
}

bool wants_core_scheduling(const Annotations& annotations) {
  return is_true(annotations, kCoreScheduling).value_or(false);
}

}  // namespace ocirun::bundle
