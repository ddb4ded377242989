#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/options.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array<const Command*, 21> kCommands{
    &kRun,  &kStart,  &kRestart, &kStatus, &kPorts, &kStats,  &kLogs,
    &kExec, &kCopy,   &kKill,    &kWait,   &kStop,  &kDelete, &kEvents,
    &kPull, &kImages, &kVolumes, &kPlan,   &kUnit,  &kExport, &kValidate};

constexpr auto kSyntaxes = [] {
  std::array<const bundle::cli::Syntax*, kCommands.size()> all{};
  std::ranges::copy(kCommands, all.begin());
  return all;
}();

/// The directories in `path` that have a name such as a pod, a container, a volume or a network may
/// have. A directory that cannot be read has none.
std::vector<std::string> listed(const std::string& path) {
  std::vector<std::string> names;
  const auto directory =
      linux::sys::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (!directory) return names;
  ignore(
      linux::for_each_entry(*directory, [&](const char* name, unsigned char type) -> Result<void> {
        if (check_pod_name(name) && linux::is_directory(*directory, name, type))
          names.emplace_back(name);
        return {};
      }));
  std::ranges::sort(names);
  return names;
}

/// The containers of the pod that the line names, or of all pods if it names none yet.
std::vector<std::string> containers_of(const std::string& pods, const Arguments& arguments) {
  if (!arguments.operands().empty()) {
    const std::string& pod = arguments.operands().front();
    const std::string name = pod.substr(0, pod.find(':'));  // of `cp`
    return check_pod_name(name) ? listed(pods + "/" + name + "/containers")
                                : std::vector<std::string>();
  }
  std::vector<std::string> all;
  for (const std::string& pod : listed(pods))
    for (std::string& name : listed(fmt::format("{}/{}/containers", pods, pod)))
      if (std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
  return all;
}

/// The pods that the line does not name yet; with --container, those with such a container.
std::vector<std::string> pods_for(const std::string& pods, const Arguments& arguments) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<std::string> names = listed(pods);
  const auto container = arguments.value("container");
  std::erase_if(names, [&](const std::string& pod) {
    return has(arguments.operands(), pod) ||
           (container && !has(listed(pods + "/" + pod + "/containers"), *container));
  });
  return names;
}

}  // namespace

constexpr bundle::cli::Program kProgram{.name = "ocirun pod", .commands = kSyntaxes};

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : *found;
}

std::vector<bundle::cli::Candidate> names_for(const bundle::cli::Question& question) {
  const Arguments& arguments = question.arguments;
  const auto usual = default_data_directory();
  const std::string data =
      arguments.value(kDataOption.name).value_or(usual ? usual->string() : std::string());
  if (data.empty()) return {};
  std::vector<std::string> names;
  if (question.completes == Completes::kPodContainer)
    names = containers_of(data + "/pods", arguments);
  else if (question.completes == Completes::kNetwork)
    names = listed(data + "/networks");
  else if (question.completes != Completes::kVolume)
    names = pods_for(data + "/pods", arguments);
  else if (arguments.operands().empty() || arguments.operands().front() == "remove")
    names = listed(data + "/volumes");
  std::vector<bundle::cli::Candidate> found;
  for (const std::string& name : names)
    found.push_back({question.completes == Completes::kPodOrFile ? name + ":" : name});
  return found;
}

}  // namespace ocirun::pods::cli
