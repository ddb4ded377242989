#include <fcntl.h>
#include <unistd.h>

#include "bundle/json/document.hpp"
#include "linux/base/printable.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/commands.hpp"
#include "pods/documents/needs.hpp"
#include "pods/documents/workload.hpp"

namespace ocirun::pods::cli {
namespace {

Result<std::string> read_document(const std::string& file) {
  if (file == "-") return linux::sys::read_all(Fd{STDIN_FILENO}, bundle::Document::kMaxSize);
  TRY_ASSIGN(const UniqueFd opened,
             linux::sys::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return linux::sys::read_all(opened, bundle::Document::kMaxSize);
}

std::string_view plural(std::size_t count) { return count == 1 ? "" : "s"; }

/// "app.yaml is valid: OAM ContainerizedWorkload "web" with 2 containers"
std::string praise(const Workload& workload) {
  const std::size_t count = workload.pod.containers.size();
  std::string line = fmt::format("{} is valid: {}", workload.file, name_of(workload.pod.kind));
  if (!workload.pod.name.empty()) line += fmt::format(" \"{}\"", workload.pod.name);
  line += fmt::format(" with {} container{}", count, plural(count));
  if (const std::size_t inits = workload.pod.init_containers.size(); inits != 0)
    line += fmt::format(" and {} init container{}", inits, plural(inits));
  return line;
}

/// The lines of one document; `bad` counts what `pod run` would not accept.
std::string report(const Workload& workload, std::size_t& bad) {
  std::string lines;
  const auto add = [&](std::string_view kind, const std::string& sentence) {
    lines += fmt::format("{}: {}\n", kind, linux::in_one_line(sentence));
  };
  for (const std::string& problem : workload.problems) add("error", problem);
  for (const Elsewhere& part : workload.pod.elsewhere)
    add("error", fmt::format("{}: {}", workload.at(part.place), part.sentence));
  for (const std::string& warning : workload.warnings) add("warning", warning);
  std::size_t faults = workload.problem_count + workload.pod.elsewhere.size();
  if (workload.problem_count == 0)
    for (const Need& need : needs_of(workload.pod)) {
      add(need.is_fault ? "error" : "needs",
          fmt::format("{}: {}", workload.at(need.place), need.sentence));
      if (need.is_fault) ++faults;
    }
  if (faults == 0) lines += linux::in_one_line(praise(workload)) + '\n';
  bad += faults;
  return lines;
}

}  // namespace

Result<int> run_validate(const Arguments& arguments) {
  if (const auto profile = arguments.value("profile")) {
    if (*profile == "knative") return validate_contract(arguments.operands());
    return refuse("--profile {}: must be knative", *profile);
  }
  std::size_t bad = 0;
  const std::vector<std::string>& operands = arguments.operands();
  for (const std::string& file : operands) {
    const std::string name = file == "-" ? "standard input" : file;
    const auto text = within(read_document(file), name);
    if (!text && operands.size() == 1) return std::unexpected(text.error());
    if (text) {
      TRY(print(report(read_workload(name, *text), bad)));
    } else {
      ++bad;
      TRY(print(fmt::format("error: {}\n", linux::in_one_line(text.error().message()))));
    }
  }
  if (bad == 0) return 0;
  return refuse("{} error{}", bad, plural(bad));
}

}  // namespace ocirun::pods::cli
