#include "pods/prepare/plan/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "bundle/config/annotations.hpp"
#include "linux/base/text.hpp"
#include "linux/process/exec_limits.hpp"
#include "pods/prepare/plan/expansion.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kDefaultPath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment: that of the image, and the document's.
Result<Environment> merge_env(const ImageConfig& image, const Account& account,
                              const Environment& named) {
  Environment env;
  env.set_entry(kDefaultPath);
  env.set("HOME", account.home);
  for (const std::string& entry : image.config.env) {
    if (entry.find('=') == std::string::npos || entry.starts_with('='))
      return refuse("the image's variable \"{}\" does not have the form NAME=value", entry);
    env.set_entry(entry);
  }
  env.set_all(named);
  return env;
}

/// The image's Entrypoint and Cmd, as far as the document does not replace them. A command of the
/// document replaces Cmd too, as in Kubernetes, and as the image specification's Cmd are arguments
/// for the image's own Entrypoint (OAM-14).
Result<std::vector<std::string>> merge_args(const Expansion& document, const ImageConfig& image) {
  std::vector<std::string> args = document.command.value_or(image.config.entrypoint);
  const std::vector<std::string> rest = document.args      ? *document.args
                                        : document.command ? std::vector<std::string>()
                                                           : image.config.cmd;
  args.insert(args.end(), rest.begin(), rest.end());
  if (!args.empty() && !args.front().empty()) return args;
  return refuse(
      "there is no program: the image has no Entrypoint and no Cmd, and the document no command");
}

/// Checks that execve(2) takes the strings of document and image together. find_expansion_errors()
/// has checked those of the document alone.
Result<void> check_sizes(const Launch& launch) {
  const linux::ExecLimits limits = linux::ExecLimits::here();
  std::size_t cost = 0;
  for (const auto* strings : {&launch.args, &launch.env})
    for (const std::string& text : *strings) {
      cost += linux::ExecLimits::cost(text.size());
      if (text.size() > limits.string)
        return refuse(
            "\"{}...\" of the image has more than {} bytes: execve(2) takes no longer "
            "argument or variable",
            linux::in_one_line(text.substr(0, 40)), limits.string);
    }
  if (cost <= limits.all) return {};
  return refuse(
      "the arguments and variables of document and image take {} bytes together: execve(2) takes "
      "{}, a quarter of the limit on the stack (ulimit -s), and at most 6 MiB",
      cost, limits.all);
}

/// The user of the document, else of the image: "USER[:GROUP]".
Result<Account> merge_account(const Container& container, const ImageConfig& image,
                              const linux::SafeDir& root) {
  std::string_view group = image.config.user;
  const std::string_view user = linux::cut(group, ':');
  const bool is_document_s = !container.user.empty();
  OCIRUN_TRY_ASSIGN(
      Account account,
      find_account(
          root, is_document_s ? container.user : std::string(user),
          !container.group.empty() ? container.group : std::string(is_document_s ? "" : group)));
  if (container.forbid_root && account.uid.value() == 0)
    return refuse("the program would run as root, which runAsNonRoot forbids");
  for (const Gid gid : container.extra_groups) account.additional_gids.push_back(gid);
  return account;
}

/// Whether a label of an image becomes an annotation: the keys that the image specification defines
/// (annotations.md, conversion.md), and the label of Docker's MAINTAINER. Any other key may
/// instruct a runtime or a hook, now or in a later version: to choose files of the host, a unit's
/// properties or another kind of container. Even a key without a domain may: runc takes an
/// annotation "bundle" for the path of the bundle (T-6).
bool describes_image(std::string_view label) {
  static constexpr std::string_view kPrefix = "org.opencontainers.image.";
  static constexpr std::array<std::string_view, 22> kNames = {
      "architecture", "author",        "authors",      "base.digest", "base.name",  "created",
      "description",  "documentation", "exposedPorts", "licenses",    "os",         "os.features",
      "os.version",   "ref.name",      "revision",     "source",      "stopSignal", "title",
      "url",          "variant",       "vendor",       "version"};
  if (label == "maintainer") return true;
  if (!label.starts_with(kPrefix)) return false;
  label.remove_prefix(kPrefix.size());
  return std::ranges::find(kNames, label) != kNames.end();
}

/// Labels of the image replace annotations from its other members, and annotations of the document
/// replace both.
std::map<std::string, std::string> merge_annotations(const Pod& pod, const Container& container,
                                                     const ImageConfig& image,
                                                     std::vector<std::string>& left_out) {
  std::map<std::string, std::string> merged = container.annotations;
  merged.merge(bundle_annotations(pod));
  for (const auto& [name, value] : image.config.labels)
    if (describes_image(name))
      merged.emplace(name, value);
    else if (name.starts_with(bundle::kOwnPrefix))
      left_out.push_back(name);
  const bool names_signal = bundle::parse_stop_signal(image.config.stop_signal).has_value();
  const std::pair<std::string_view, std::string> implied[] = {
      {"os", image.platform.os},
      {"architecture", image.platform.architecture},
      {"variant", image.platform.variant},
      {"author", image.author},
      {"created", image.created},
      {"stopSignal", names_signal ? image.config.stop_signal : ""},
      {"exposedPorts", fmt::format("{}", fmt::join(image.config.exposed_ports, ","))}};
  for (const auto& [name, value] : implied)
    if (!value.empty()) merged.emplace(fmt::format("org.opencontainers.image.{}", name), value);
  return merged;
}

/// Checks that a volume is a directory of the image's own: not the root, nor a place where the
/// runtime mounts (CVE-2019-16884).
Result<void> check_volume(const std::string& path) {
  const auto parts = linux::words(path, '/');
  const bool is_own =
      path.starts_with('/') && !parts.empty() &&
      std::ranges::none_of(parts,
                           [](std::string_view part) { return part == "." || part == ".."; }) &&
      parts.front() != "proc" && parts.front() != "sys" && parts.front() != "dev";
  if (is_own) return {};
  return refuse("the image's volume \"{}\" must be a path of its own, outside of /proc, /sys, /dev",
                path);
}

Result<std::string> merge_cwd(const Container& container, const ImageConfig& image) {
  if (!container.working_directory.empty()) return container.working_directory;
  if (image.config.working_dir.empty()) return "/";
  if (image.config.working_dir.starts_with('/')) return image.config.working_dir;
  return refuse("the image's WorkingDir \"{}\" is not absolute", image.config.working_dir);
}

}  // namespace

Result<Launch> merge_launch(const Pod& pod, const Container& container, const ImageConfig& image,
                            const Bindings& bindings, const linux::SafeDir& root) {
  Launch launch;
  OCIRUN_TRY_ASSIGN(launch.account, merge_account(container, image, root));
  const auto document = expand_container(pod, container, bindings);
  if (!document) return std::unexpected(document.error().error);
  OCIRUN_TRY_ASSIGN(const Environment env, merge_env(image, launch.account, document->named));
  launch.env = env.entries();
  OCIRUN_TRY_ASSIGN(launch.args, merge_args(*document, image));
  OCIRUN_TRY(check_sizes(launch));
  OCIRUN_TRY_ASSIGN(launch.cwd, merge_cwd(container, image));
  launch.annotations = merge_annotations(pod, container, image, launch.left_out_labels);
  for (const std::string& path : image.config.volumes) OCIRUN_TRY(check_volume(path));
  launch.volumes = image.config.volumes;
  launch.stop_signal = image.config.stop_signal;
  return launch;
}

}  // namespace ocirun::pods
