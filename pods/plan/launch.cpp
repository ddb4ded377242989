#include "pods/plan/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "linux/base/text.hpp"
#include "pods/plan/bindings.hpp"
#include "pods/plan/variables.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kDefaultPath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables in the order in which they were first set, with the last value of each name.
class Environment {
 public:
  void set(std::string_view name, std::string_view value) {
    const auto [same, is_new] = values_.try_emplace(std::string(name));
    if (is_new) order_.emplace_back(name);
    same->second = value;
  }
  /// `entry`: "NAME=value".
  void set_entry(std::string_view entry) {
    const std::string_view name = linux::cut(entry, '=');
    set(name, entry);
  }
  void set_all(const Environment& other) {
    for (const std::string& name : other.order_) set(name, other.values_.at(name));
  }
  const Variables& variables() const { return values_; }
  /// "NAME=value" of each.
  std::vector<std::string> entries() const {
    std::vector<std::string> entries;
    for (const std::string& name : order_)
      entries.push_back(fmt::format("{}={}", name, values_.at(name)));
    return entries;
  }

 private:
  std::vector<std::string> order_;  // of the names
  Variables values_;
};

/// The environment, and the variables that "$(NAME)" can refer to: all except those of the image.
struct Merged {
  std::vector<std::string> entries;
  Variables named;
};

Result<Merged> merge_env(const Pod& pod, const Container& container, const ImageConfig& image,
                         const Account& account, const Bindings& bindings) {
  Environment env;
  env.set_entry(kDefaultPath);
  env.set("HOME", account.home);
  for (const std::string& entry : image.config.env) {
    if (entry.find('=') == std::string::npos || entry.starts_with('='))
      return refuse("the image's variable \"{}\" does not have the form NAME=value", entry);
    env.set_entry(entry);
  }
  Environment named;
  for (const auto& [name, value] : connection_variables(pod, bindings)) named.set(name, value);
  const Secrets secrets{.bindings = bindings, .pod = pod};
  for (const EnvSource& source : container.env_sources) {
    TRY_ASSIGN(const auto values, secrets.variables(source));
    for (const auto& [key, value] : values) named.set(source.prefix + key, value);
  }
  for (const EnvVariable& variable : container.env) {
    if (const auto* key = std::get_if<SecretKey>(&variable.value)) {
      TRY_ASSIGN(const auto value, secrets.variable(*key));
      if (value) named.set(variable.name, *value);
    } else {
      const std::string& value = std::get<std::string>(variable.value);
      const bool is_expanded = has_references(pod) && !variable.is_literal;
      named.set(variable.name, is_expanded ? expand(value, named.variables()) : value);
    }
  }
  for (const auto& [name, value] : platform_variables(pod, container)) named.set(name, value);
  env.set_all(named);
  return Merged{.entries = env.entries(), .named = named.variables()};
}

/// The image's Entrypoint and Cmd, as far as the document does not replace them. A command of the
/// document replaces Cmd too, as in Kubernetes, and as the image specification's Cmd are arguments
/// for the image's own Entrypoint (OAM-14).
Result<std::vector<std::string>> merge_args(const Pod& pod, const Container& container,
                                            const ImageConfig& image, const Variables& named) {
  const auto expanded = [&](std::vector<std::string> words) {
    if (has_references(pod))
      for (std::string& word : words) word = expand(word, named);
    return words;
  };
  std::vector<std::string> args =
      container.command ? expanded(*container.command) : image.config.entrypoint;
  const std::vector<std::string> rest = container.args      ? expanded(*container.args)
                                        : container.command ? std::vector<std::string>()
                                                            : image.config.cmd;
  args.insert(args.end(), rest.begin(), rest.end());
  if (!args.empty() && !args.front().empty()) return args;
  return refuse(
      "there is no program: the image has no Entrypoint and no Cmd, and the document no command");
}

/// The user of the document, else of the image: "USER[:GROUP]".
Result<Account> merge_account(const Container& container, const ImageConfig& image,
                              const linux::SafeDir& root) {
  std::string_view group = image.config.user;
  const std::string_view user = linux::cut(group, ':');
  const bool is_document_s = !container.user.empty();
  TRY_ASSIGN(Account account,
             find_account(root, is_document_s ? container.user : std::string(user),
                          !container.group.empty() ? container.group
                                                   : std::string(is_document_s ? "" : group)));
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
  merged.insert(pod.annotations.begin(), pod.annotations.end());
  for (const auto& [name, value] : image.config.labels)
    if (describes_image(name))
      merged.emplace(name, value);
    else
      left_out.push_back(name);
  const std::pair<std::string_view, std::string> implied[] = {
      {"os", image.platform.os},
      {"architecture", image.platform.architecture},
      {"variant", image.platform.variant},
      {"author", image.author},
      {"created", image.created},
      {"stopSignal", image.config.stop_signal},
      {"exposedPorts", fmt::format("{}", fmt::join(image.config.exposed_ports, ","))}};
  for (const auto& [name, value] : implied)
    if (!value.empty()) merged.emplace(fmt::format("org.opencontainers.image.{}", name), value);
  return merged;
}

/// A directory of the image's own: not the root, nor a place where the runtime mounts
/// (CVE-2019-16884).
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
  TRY_ASSIGN(launch.account, merge_account(container, image, root));
  TRY_ASSIGN(Merged env, merge_env(pod, container, image, launch.account, bindings));
  TRY_ASSIGN(launch.args, merge_args(pod, container, image, env.named));
  launch.env = std::move(env.entries);
  TRY_ASSIGN(launch.cwd, merge_cwd(container, image));
  launch.annotations = merge_annotations(pod, container, image, launch.left_out_labels);
  for (const std::string& path : image.config.volumes) TRY(check_volume(path));
  launch.volumes = image.config.volumes;
  launch.stop_signal = image.config.stop_signal;
  return launch;
}

}  // namespace ocirun::pods
