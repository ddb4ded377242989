#include <fcntl.h>
#include <linux/magic.h>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/contract/clauses.hpp"

namespace ocirun::pods::cli {
namespace {

bool is_pure_cgroup_v2() {
  const auto mount = linux::sys::open("/sys/fs/cgroup", O_PATH | O_CLOEXEC | O_DIRECTORY);
  if (!mount) return false;
  const auto status = linux::sys::fstatfs(*mount);
  return status && static_cast<std::uint32_t>(status->magic) == CGROUP2_SUPER_MAGIC;
}

/// The report of one bundle; `broken` counts clauses of the level MUST that are not met.
Result<std::string> report(const std::string& directory, std::size_t& broken) {
  TRY_ASSIGN(const HostPath path, linux::absolute_path(directory));
  TRY_ASSIGN(const std::string text, bundle::read_config_file(path));
  TRY_ASSIGN(const bundle::Config config, bundle::parse_config(text, path).take());
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

}  // namespace

Result<int> validate_contract(std::span<const std::string> bundles) {
  std::size_t broken = 0;
  for (const std::string& bundle : bundles) {
    TRY_ASSIGN(const std::string lines, within(report(bundle, broken), bundle));
    TRY(print(lines));
  }
  if (broken == 0) return 0;
  return refuse("{} clause{} of the level MUST {} not met", broken, broken == 1 ? "" : "s",
                broken == 1 ? "is" : "are");
}

}  // namespace ocirun::pods::cli
