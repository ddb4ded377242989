#include "pods/cli/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/pod_fields.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods::cli {
namespace {

Result<Restart> read_restart(const std::string& text) {
  if (text == "always") return Restart::kAlways;
  if (text == "on-failure") return Restart::kOnFailure;
  if (text == "never") return Restart::kNever;
  return refuse("--restart {}: must be always, on-failure or never", text);
}

/// --seccomp default|unconfined|FILE
Result<SeccompChoice> read_seccomp(const std::string& text) {
  if (text == "default") return SeccompChoice{};
  if (text == "unconfined") return SeccompChoice{SeccompChoice::Kind::kUnconfined, ""};
  auto profile = [&]() -> Result<SeccompChoice> {
    OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::open(text.c_str(), O_RDONLY | O_NOCTTY));
    OCIRUN_TRY_ASSIGN(std::string content, linux::sys::read_all(file, bundle::Document::kMaxSize));
    return read_seccomp_profile(std::move(content));
  }();
  return within(std::move(profile), "--seccomp " + text);
}

/// "NAME=HOSTPATH[:ro]" or "NAME[:ro]"
Result<std::pair<std::string, VolumeBinding>> read_volume(const std::string& option,
                                                          const HostPath& data) {
  constexpr std::string_view kReadOnly = ":ro";
  std::string text = option;
  VolumeBinding binding;
  binding.read_only = text.ends_with(kReadOnly);
  if (binding.read_only) text.resize(text.size() - kReadOnly.size());
  const std::size_t sign = text.find('=');
  if (sign == 0 || sign + 1 == text.size())
    return refuse("--volume {}: must have the form NAME=HOSTPATH[:ro] or NAME[:ro]", option);
  std::string name = text.substr(0, sign);
  binding.is_kept = sign == std::string::npos;
  if (binding.is_kept) OCIRUN_TRY(check_volume_name(name));
  binding.directory =
      binding.is_kept ? kept_volume_path(data, name) : HostPath(text.substr(sign + 1));
  return std::pair{std::move(name), std::move(binding)};
}

Result<std::map<std::string, VolumeBinding>> read_volumes(const Arguments& arguments) {
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  std::map<std::string, VolumeBinding> volumes;
  for (const std::string& text : arguments.values("volume")) {
    OCIRUN_TRY_ASSIGN(auto volume, read_volume(text, data));
    if (!volumes.insert(std::move(volume)).second)
      return refuse("--volume {}: the name is given twice", text);
  }
  return volumes;
}

Result<DeviceDirectories> read_device_directories(const Arguments& arguments) {
  DeviceDirectories directories;
  if (!arguments.has("cdi")) return directories;
  directories = {.paths = {}, .may_be_absent = false};
  for (const std::string& text : arguments.values("cdi")) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(text));
    directories.paths.push_back(path.string());
  }
  return directories;
}

}  // namespace

Result<std::map<std::string, std::string>> pairs_of(const Arguments& arguments,
                                                    std::string_view option, Empty empty) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : arguments.values(option)) {
    const std::size_t sign = text.find('=');
    const bool has_value = empty == Empty::kAllowed || sign + 1 != text.size();
    if (sign == std::string::npos || sign == 0 || !has_value)
      return refuse("--{} {}: must have the form NAME=VALUE", option, text);
    if (!pairs.emplace(text.substr(0, sign), text.substr(sign + 1)).second)
      return refuse("--{} {}: the name is given twice", option, text);
  }
  return pairs;
}

Result<std::chrono::seconds> read_seconds(std::string_view option, std::string_view text) {
  constexpr std::uint32_t kYear = 366U * 24 * 3600;
  const auto number = linux::number<std::uint32_t>(text);
  if (!number || *number > kYear)
    return refuse("--{} {}: must be whole seconds, from 0 to {}", option, text, kYear);
  return std::chrono::seconds(*number);
}

Result<Given> read_given(const Arguments& arguments) {
  Given given;
  OCIRUN_TRY_ASSIGN(given.bindings.parameters,
                    pairs_of(arguments, "param", Empty::kAllowed));  // OAM-16
  OCIRUN_TRY_ASSIGN(const auto secrets, pairs_of(arguments, "secret"));
  for (const auto& [id, directory] : secrets)
    given.bindings.secrets.emplace(id, HostPath(directory));
  OCIRUN_TRY_ASSIGN(given.volumes, read_volumes(arguments));
  OCIRUN_TRY_ASSIGN(given.images, pairs_of(arguments, "image"));
  OCIRUN_TRY_ASSIGN(given.extended, pairs_of(arguments, "extended"));
  for (const std::string& text : arguments.values("device")) {
    OCIRUN_TRY_ASSIGN(given.devices.emplace_back(), within(parse_device(text), "--device"));
  }
  OCIRUN_TRY_ASSIGN(given.cdi, read_device_directories(arguments));
  OCIRUN_TRY_ASSIGN(given.variables, read_variables(arguments));
  OCIRUN_TRY_ASSIGN(given.labels, pairs_of(arguments, "label", Empty::kAllowed));
  given.image_directory = arguments.value("images").value_or("");
  OCIRUN_TRY_ASSIGN(given.pulling, read_pulling(arguments));
  if (arguments.has("enforce-required")) given.requests = Requests::kHard;
  given.user = arguments.value("user").value_or("");
  given.forbid_root = arguments.has("forbid-root");
  given.read_only_root = arguments.has("read-only");
  if (const auto text = arguments.value("seccomp")) {
    OCIRUN_TRY_ASSIGN(given.seccomp, read_seccomp(*text));
  }
  if (const auto directory = arguments.value("seccomp-profiles")) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(*directory));
    given.seccomp_profiles = path.string();
  }
  if (const auto text = arguments.value("restart")) {
    OCIRUN_TRY_ASSIGN(given.restart, read_restart(*text));
  }
  if (const auto text = arguments.value("port")) {
    const auto port = linux::number<std::uint16_t>(*text);
    if (!port || *port == 0) return refuse("--port {}: must be from 1 to 65535", *text);
    given.port = port;
  }
  return given;
}

Result<Workload> read_workload_to_run(const Arguments& arguments, const std::string& file,
                                      Audience audience) {
  OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(file), shown_name(file)));
  return workload_of_text(arguments, file, text, audience);
}

Result<Workload> workload_of_text(const Arguments& arguments, const std::string& file,
                                  const std::string& text, Audience audience) {
  const std::string name = shown_name(file);
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ignored, read_ignored(arguments));
  Workload workload = read_workload(name, text, ignored);
  if (const auto pod_name = arguments.value("name")) rename_pod_in_parts(*pod_name, workload.pod);
  const bool is_here = audience == Audience::kThisMachine;
  for (const std::string& warning : is_here                        ? workload.warnings
                                    : audience == Audience::kSwarm ? workload.swarm_warnings
                                                                   : workload.export_warnings)
    warn(warning);
  if (is_here) warn_of_pull_secrets(arguments, workload);
  std::vector<std::string> sentences = workload.problems;
  if (is_here)
    for (const Elsewhere& part : workload.pod.elsewhere) sentences.push_back(workload.at(part));
  for (const std::string& unused : workload.unused_ignored)
    sentences.push_back(unused_ignored(unused));
  if (sentences.empty()) return workload;
  if (sentences.size() == 1) return refuse("{}", sentences.front());
  for (const std::string& sentence : sentences) note(fmt::format("error: {}", sentence));
  return refuse("{} has {} errors", name, sentences.size());
}

Result<std::string> name_for(const Arguments& arguments, const std::string& of_document,
                             const std::string& file) {
  std::string name = arguments.value("name").value_or(of_document);
  if (name.empty()) {
    name = file.substr(file.rfind('/') + 1);
    if (const std::size_t dot = name.rfind('.'); dot != 0 && dot != std::string::npos)
      name.resize(dot);
    if (file == "-") return refuse("the document names no pod: --name POD does");
  }
  OCIRUN_TRY(check_pod_name(name));
  return name;
}

}  // namespace ocirun::pods::cli
