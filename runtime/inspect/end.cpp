// The end of a container that has stopped.

#include <fmt/format.h>

#include "bundle/config/annotations.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {

Rows inspect_end(const bundle::StateDocument& state) {
  Rows rows;
  const auto add = [&](const char* what, std::string found) {
    rows.push_back({.what = what, .asked = "", .found = std::move(found)});
  };
  if (!state.life) {
    add("end",
        fmt::format("not recorded: the annotation {} was not \"true\"", bundle::kRecordExit));
    return rows;
  }
  const bundle::LifeRecord& life = *state.life;
  add("started", life.started.empty() ? "never" : life.started);
  add("finished", life.finished.empty() ? "not known yet" : life.finished);
  if (life.finished.empty()) return rows;
  if (life.exit_status) add("exit status", std::to_string(*life.exit_status));
  if (life.exit_signal) add("killed by signal", std::to_string(*life.exit_signal));
  if (!life.exit_status && !life.exit_signal)
    add("exit status",
        "not known: no parent has asked for it yet, or the kernel is older than Linux 6.15");
  if (!life.oom_killed)
    add("out of memory", "not known: no controller counts, or the exit status is not known");
  else
    add("out of memory", *life.oom_killed ? "yes: the out-of-memory killer has ended it" : "no");
  return rows;
}

}  // namespace ocirun::runtime
