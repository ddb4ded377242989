#include "pods/cli/views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bundle/json/record.hpp"

namespace ocirun::pods::cli {

Result<ChosenPods> view_pods(const PodsDirectory& pods, const std::vector<std::string>& names) {
  ChosenPods chosen;
  const bool is_any = names.empty();
  chosen.is_list = is_any || names.size() > 1;
  std::vector<std::string> all = names;
  if (is_any) {
    OCIRUN_TRY_ASSIGN(all, pods.names());
  }
  for (const std::string& name : all) {
    auto view = view_pod(pods, name);
    // Another command may have deleted the pod meanwhile.
    if (!view && is_any && view.error().number() == ENOENT) continue;
    if (!view && is_any && view.error().number() == bundle::kNewerRecord) {
      warn(view.error().message());
      continue;
    }
    if (!view) return std::unexpected(view.error());
    if (view->lost_supervisor) look_at_programs(view->record);
    chosen.views.push_back(*std::move(view));
  }
  return chosen;
}

std::string text_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

namespace {

std::string why_no_program_runs(const ContainerRecord& container) {
  std::string text =
      fmt::format("{}container \"{}\" {}", container.is_init ? "init " : "", container.name,
                  container.status == ContainerStatus::kExited ? "has ended" : "does not run");
  if (!container.reason.empty()) text += fmt::format(" ({})", container.reason);
  return text;
}

}  // namespace

Result<ContainerRecord> choose_running_container(const PodRecord& record,
                                                 const std::optional<std::string>& wanted,
                                                 std::string_view consequence) {
  std::vector<std::string> candidates, others;
  std::optional<ContainerRecord> only;
  for (const ContainerRecord& container : record.containers) {
    const bool runs = container.status == ContainerStatus::kRunning;
    if (wanted && container.name == *wanted) {
      if (runs) return container;
      return refuse("{}: {}", why_no_program_runs(container), consequence);
    }
    if (!runs) {
      others.push_back(why_no_program_runs(container));
      continue;
    }
    candidates.push_back(container.name);
    only = container;
  }
  if (candidates.empty())
    return refuse("no container of the pod runs: {}", fmt::join(others, ", "));
  if (wanted)
    return refuse("the pod has no container \"{}\"; those that run: {}", *wanted,
                  fmt::join(candidates, ", "));
  if (candidates.size() > 1)
    return refuse("several containers run: -c names one of {}", fmt::join(candidates, ", "));
  return *only;
}

}  // namespace ocirun::pods::cli
