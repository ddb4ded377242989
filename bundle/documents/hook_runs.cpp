#include "bundle/documents/hook_runs.hpp"

#include <fmt/format.h>

#include "bundle/json/record.hpp"
#include "linux/base/text.hpp"

namespace ocirun::bundle {
namespace {

constexpr std::size_t kMostHookBytes = std::size_t{8} << 20;
constexpr std::size_t kMostRuns = 1000;  // at most 6 KB each, if each byte of an error is escaped
constexpr std::size_t kLongestError = 1000;

struct HookRecords {
  int format = 1;
  std::vector<HookRecord> runs;
};

constexpr auto kHookRecord =
    exact_fields<HookRecord>(required("hook", &HookRecord::pointer, nonempty_text),
                             required("started", &HookRecord::started, nonempty_text),
                             required("lasted", &HookRecord::lasted, whole_number),
                             field("error", &HookRecord::error, nonempty_text));

constexpr auto kHookTable =
    exact_fields<HookRecords>(required("format", &HookRecords::format, RecordFormat{1}),
                              required("runs", &HookRecords::runs, list_of(kHookRecord)));

}  // namespace

std::string hook_pointer(hooks::Kind kind, std::size_t index) {
  return fmt::format("/hooks/{}/{}", hooks::config_name(kind), index);
}

Result<void> append_hook_runs(Fd directory, std::span<const hooks::HookRun> runs) {
  if (runs.empty()) return {};
  HookRecords records;
  OCIRUN_TRY_ASSIGN(records.runs, read_hook_runs(directory));
  if (records.runs.size() + runs.size() > kMostRuns)
    return refuse("more than {} hooks have run", kMostRuns);
  for (const hooks::HookRun& run : runs)
    records.runs.push_back({.pointer = hook_pointer(run.kind, run.index),
                            .started = run.started,
                            .lasted = static_cast<std::uint64_t>(run.lasted.count()),
                            .error = linux::in_one_line(run.error.substr(0, kLongestError))});
  return replace_record(directory, kHookRuns, kHookTable, records);
}

Result<std::vector<HookRecord>> read_hook_runs(Fd directory) {
  auto read = read_record(directory, kHookRuns, kMostHookBytes, kHookTable);
  if (is_missing(read)) return std::vector<HookRecord>();
  if (!read) return std::unexpected(std::move(read).error());
  return std::move(read->runs);
}

}  // namespace ocirun::bundle
