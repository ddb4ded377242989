// The processes of the container's cgroup.

#include <fmt/format.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "runtime/commands/processes.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMostShown = 1000;

Result<std::vector<int>> pids_of(const Subject& subject) {
  const Container& container = subject.container;
  if (!is_without_cgroup(container.record())) {
    OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
    return cgroup->pids();
  }
  OCIRUN_TRY_ASSIGN(const auto found,
                    find_processes(subject.pid, container.record().own_pid_namespace));
  std::vector<int> pids;
  std::ranges::transform(found, std::back_inserter(pids), &linux::ProcessIdentity::pid);
  return pids;
}

/// The number of pid namespaces that the process is in, from the caller's on.
std::size_t depth_of(std::string_view status) {
  return linux::words(status_field(status, "NSpid"), '\t').size();
}

/// "sh, uid 0, parent 12". A program chooses its name, and no other process has to be asked for it.
std::string line_of_status(std::string_view status) {
  const auto uids = linux::words(status_field(status, "Uid"), '\t');
  return fmt::format("{}, uid {}, parent {}", status_field(status, "Name"),
                     uids.empty() ? "?" : uids.front(), status_field(status, "PPid"));
}

}  // namespace

Rows inspect_processes(const Subject& subject) {
  Rows rows;
  const auto pids = pids_of(subject);
  if (!pids) {
    rows.push_back({"processes", "", pids.error().message(), Verdict::kUnknown});
    return rows;
  }
  const bool has_own_pids = subject.container.record().own_pid_namespace;
  const std::size_t depth = depth_of(subject.status);
  const auto init_space =
      linux::sys::readlinkat(subject.procfs.fd(), (subject.files + "/ns/pid").c_str());
  std::size_t left_out = 0;
  for (const int pid : *pids) {
    const auto status = subject.procfs.read(fmt::format("{}/status", pid));
    if (!status) continue;  // has ended meanwhile
    Row row{fmt::format("process {}", pid), "", line_of_status(*status), Verdict::kFact};
    const auto space =
        linux::sys::readlinkat(subject.procfs.fd(), fmt::format("{}/ns/pid", pid).c_str());
    // A process of a pid namespace that the container has made is deeper than init.
    if (has_own_pids && init_space && space && *space != *init_space &&
        depth_of(*status) <= depth) {
      row.asked = "a process of the container's pid namespace";
      row.verdict = Verdict::kDrift;
      row.found += ", of " + *space;
    }
    if (rows.size() < kMostShown || row.verdict == Verdict::kDrift)
      rows.push_back(std::move(row));
    else
      ++left_out;
  }
  if (left_out != 0) rows.push_back({"more", "", fmt::format("{} processes", left_out)});
  return rows;
}

}  // namespace ocirun::runtime
