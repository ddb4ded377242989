#include <fcntl.h>
#include <linux/magic.h>

#include <algorithm>
#include <array>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/documents/needs.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/contract/clauses.hpp"
#include "pods/prepare/plan/expansion.hpp"

namespace ocirun::pods::cli {
namespace {

std::string_view plural(std::size_t count) { return count == 1 ? "" : "s"; }

bool is_pure_cgroup_v2() {
  const auto mount = linux::sys::open("/sys/fs/cgroup", O_PATH | O_CLOEXEC | O_DIRECTORY);
  if (!mount) return false;
  const auto status = linux::sys::fstatfs(*mount);
  return status && static_cast<std::uint32_t>(status->magic) == CGROUP2_SUPER_MAGIC;
}

/// The report of one bundle. Adds to `broken` the number of clauses of the level MUST that are not
/// met.
Result<std::string> report(const std::string& directory, std::size_t& broken) {
  OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(directory));
  OCIRUN_TRY_ASSIGN(const std::string text, bundle::read_config_file(path));
  OCIRUN_TRY_ASSIGN(const bundle::Config config, bundle::parse_config(text, path).take());
  ContractSubject subject{
      .config = config, .root = {}, .host_has_cgroup_v2_only = is_pure_cgroup_v2()};
  if (auto root = linux::SafeDir::open_root(config.root_path)) subject.root = std::move(*root);
  std::string lines;
  for (const Clause& clause : contract_clauses()) {
    const auto [verdict, reason] = clause.judge(subject);
    lines += linux::in_one_line(fmt::format("{:<16}{:<7}{:<8}{}: {}", name_of(verdict), clause.id,
                                            name_of(clause.level), clause.words, reason));
    lines += '\n';
    if (verdict == Verdict::kNotMet && clause.level == Level::kMust) ++broken;
  }
  return lines;
}

/// Prints which clauses of the Knative runtime contract each bundle meets. Errors: a bundle cannot
/// be read; a clause of the level MUST is not met.
Result<int> validate_contract(std::span<const std::string> bundles) {
  std::size_t broken = 0;
  for (const std::string& bundle : bundles) {
    OCIRUN_TRY_ASSIGN(const std::string lines, within(report(bundle, broken), bundle));
    OCIRUN_TRY(print(lines));
  }
  if (broken == 0) return 0;
  return refuse("{} clause{} of the level MUST {} not met", broken, plural(broken),
                broken == 1 ? "is" : "are");
}

/// "app.yaml is valid: OAM ContainerizedWorkload "web" with 2 containers"
std::string praise(const Workload& workload) {
  const std::size_t count = workload.pod.containers.size();
  std::string line = fmt::format("{} is valid: {}", workload.file, shown_kind(workload.pod));
  const std::string& name = workload_name(workload.pod);
  if (!name.empty()) line += fmt::format(" \"{}\"", name);
  line += fmt::format(" with {} container{}", count, plural(count));
  if (const std::size_t inits = workload.pod.init_containers.size(); inits != 0)
    line += fmt::format(" and {} init container{}", inits, plural(inits));
  return line;
}

/// The report of one document. Adds to `bad` the number of faults that `pod run` would not accept.
std::string report(const Workload& workload, std::size_t& bad) {
  std::string lines;
  const auto add = [&](std::string_view kind, const std::string& sentence) {
    lines += fmt::format("{}: {}\n", kind, linux::in_one_line(sentence));
  };
  for (const std::string& problem : workload.problems) add("error", problem);
  for (const Elsewhere& part : workload.pod.elsewhere) add("error", workload.at(part));
  for (const std::string& warning : workload.warnings) add("warning", warning);
  std::size_t faults = workload.problem_count + workload.pod.elsewhere.size();
  if (workload.problem_count == 0)
    for (const Need& need : needs_of(workload.pod)) {
      add(need.is_fault ? "error" : "needs",
          fmt::format("{}: {}", workload.at(need.place), need.sentence));
      if (need.is_fault) ++faults;
    }
  if (faults == 0)
    for (const PlacedError& error : find_expansion_errors(workload.pod, {}, Missing::kEmpty)) {
      add("error", fmt::format("{}: {}", workload.at(error.place), error.error.message()));
      ++faults;
    }
  if (faults == 0) lines += linux::in_one_line(praise(workload)) + '\n';
  bad += faults;
  return lines;
}

Result<int> run_validate(const Arguments& arguments, const Caller&) {
  if (const auto profile = arguments.value("profile")) {
    if (arguments.has(kIgnoreOption.name))
      return refuse("--ignore is for documents: no name in config.json is refused");
    if (*profile == "knative") return validate_contract(arguments.operands());
    return refuse("--profile {}: must be knative", *profile);
  }
  std::size_t bad = 0;
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ignored, read_ignored(arguments));
  std::vector<std::string> unused = ignored;  // by none of the files
  const std::vector<std::string>& operands = arguments.operands();
  for (const std::string& file : operands) {
    const std::string name = shown_name(file);
    const auto text = within(read_document(file), name);
    if (!text && operands.size() == 1) return std::unexpected(text.error());
    if (text) {
      const Workload workload = read_workload(name, *text, ignored);
      std::erase_if(unused, [&](const std::string& word) {
        return std::ranges::find(workload.unused_ignored, word) == workload.unused_ignored.end();
      });
      OCIRUN_TRY(print(report(workload, bad)));
    } else {
      ++bad;
      OCIRUN_TRY(print(fmt::format("error: {}\n", linux::in_one_line(text.error().message()))));
    }
  }
  for (const std::string& word : unused)
    OCIRUN_TRY(print(fmt::format("error: {}\n", linux::in_one_line(unused_ignored(word)))));
  bad += unused.size();
  if (bad == 0) return 0;
  return refuse("{} error{}", bad, plural(bad));
}

constexpr std::array kValidateOptions{
    Option{"profile", 0, "knative",
           "check bundles instead: which clauses of the Knative runtime contract they meet",
           Completes::kWords},
    kIgnoreOption};

}  // namespace

const Command kValidate{{"validate",
                         "FILE... | --profile knative BUNDLE...",
                         "check workload documents and tell all that is wrong with them",
                         kValidateOptions,
                         {1, kAnyNumber},
                         {kFiles}},
                        run_validate};

}  // namespace ocirun::pods::cli
