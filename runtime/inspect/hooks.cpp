// The hooks that have run, when, for how long, and with which end.

#include <fmt/format.h>

#include <algorithm>

#include "bundle/documents/hook_runs.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

std::string found_text(const bundle::HookRecord& run) {
  return fmt::format("{}, {} ms, {}", run.started, run.lasted,
                     run.error.empty() ? "succeeded" : run.error);
}

}  // namespace

Rows inspect_hooks(const Subject& subject) {
  Rows rows;
  const auto runs = bundle::read_hook_runs(subject.container.directory().descriptor());
  const bool is_created = subject.container.status() == Status::kCreated;
  for (const hooks::Kind kind : hooks::kKinds) {
    if (kind == hooks::Kind::kPoststop) continue;  // runs after the end
    const bool is_of_start =
        kind == hooks::Kind::kStartContainer || kind == hooks::Kind::kPoststart;
    const auto& list = subject.config.hooks.of(kind);
    for (std::size_t index = 0; index < list.size(); ++index) {
      const std::string pointer = bundle::hook_pointer(kind, index);
      Row row{.what = pointer + " " + list[index].path.string(), .asked = "", .found = ""};
      if (!runs) {
        row.found = runs.error().message();
        row.verdict = Verdict::kUnknown;
      } else if (const auto run = std::ranges::find(*runs, pointer, &bundle::HookRecord::pointer);
                 run != runs->end()) {
        row.found = found_text(*run);
        row.verdict = run->error.empty() ? Verdict::kAsAsked : Verdict::kDrift;
      } else if (is_created && is_of_start) {
        row.found = "runs at `start`";
        row.verdict = Verdict::kAsAsked;
      } else {
        row.found = "not recorded: it did not run, or another version of ocirun made the container";
        row.verdict = Verdict::kUnasked;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace ocirun::runtime
