#include "runtime/compare/labels.hpp"

#include <string>

namespace ocirun::runtime {
namespace {

// Without the newline or NUL that the security modules write behind a label.
std::string_view plain(std::string_view label) {
  while (label.ends_with('\n') || label.ends_with('\0')) label.remove_suffix(1);
  return label;
}

Result<void> compare_profile(const linux::Procfs& procfs, int pid, const std::string& profile) {
  if (profile.empty() || profile == "unconfined") return {};
  auto label = procfs.read(fmt::format("{}/attr/apparmor/current", pid));
  if (!label) label = procfs.read(fmt::format("{}/attr/current", pid));
  TRY(label);
  if (is_of_profile(*label, profile)) return {};
  return refuse("has the AppArmor profile \"{}\": /process/apparmorProfile is \"{}\"",
                plain(*label), profile);
}

Result<void> compare_selinux(const linux::Procfs& procfs, int pid, const std::string& wanted) {
  if (wanted.empty()) return {};
  TRY_ASSIGN(const std::string label, procfs.read(fmt::format("{}/attr/current", pid)));
  if (plain(label) == wanted) return {};
  return refuse("has the SELinux label \"{}\": /process/selinuxLabel is \"{}\"", plain(label),
                wanted);
}

}  // namespace

bool is_of_profile(std::string_view label, std::string_view profile) {
  label = plain(label);
  if (label.ends_with(')')) label = label.substr(0, label.rfind(" ("));
  if (!label.starts_with(profile)) return false;
  label.remove_prefix(profile.size());
  return label.empty() || label.starts_with("//");
}

Result<void> compare_labels(const linux::Procfs& procfs, int pid, const bundle::Process& process) {
  TRY(compare_profile(procfs, pid, process.apparmor_profile));
  return compare_selinux(procfs, pid, process.selinux_label);
}

}  // namespace ocirun::runtime
