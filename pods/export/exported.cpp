#include "pods/export/exported.hpp"

#include <algorithm>
#include <cmath>

#include "linux/base/letters.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

template <typename Number>
void lower(std::optional<Number>& limit, const std::optional<Number>& other) {
  if (other) limit = limit ? std::min(*limit, *other) : *other;
}

/// Sets a variable behind those that are there, or in the place of one of the same name.
void set_variable(std::vector<EnvVariable>& variables, std::map<std::string, std::size_t>& index,
                  EnvVariable variable) {
  const auto [same, is_new] = index.emplace(variable.name, variables.size());
  if (is_new)
    variables.push_back(std::move(variable));
  else
    variables[same->second] = std::move(variable);
}

}  // namespace

std::string exported_pull_policy(const ExportRequest& request, std::optional<PullPolicy> own) {
  const auto policy =
      request.completed.given().pulling.policy ? request.completed.given().pulling.policy : own;
  return policy ? std::string(pull_policy_word(*policy)) : "";
}

std::string exported_image(Translation& translation, const Container& container) {
  const auto& images = translation.request().images;
  for (const std::string& name : {container.image, container.image_name, container.name}) {
    const auto given = images.find(name);
    if (given == images.end()) continue;
    if (!container.image_labels.empty())
      translation.note(fmt::format(
          "the image \"{}\" is not compared with the labels that the document has for \"{}\"",
          given->second, container.name));
    return given->second;
  }
  if (translation.pod().kind != Kind::kAppc) return container.image;
  translation.lose(container.image_place, "",
                   "\"{}\" is no name of an image in a registry: --image {}=docker://REFERENCE "
                   "gives one",
                   container.image, container.name);
  return "";
}

std::vector<EnvVariable> exported_variables(const Translation& translation,
                                            const Container& container) {
  const Pod& pod = translation.pod();
  std::vector<EnvVariable> variables;
  std::map<std::string, std::size_t> index;
  const auto set = [&](const std::string& name, const std::string& value) {
    set_variable(variables, index,
                 {.name = name, .value = value, .place = container.place, .is_literal = true});
  };
  for (const auto& [name, value] : connection_variables(pod, translation.given().bindings))
    set(name, value);
  for (const EnvVariable& variable : container.env) {
    EnvVariable copy = variable;
    if (copy.place == nullptr) copy.place = container.place;
    set_variable(variables, index, std::move(copy));
  }
  for (const auto& [name, value] : platform_variables(pod, container)) set(name, value);
  return variables;
}

std::string exported_content(const Translation& translation, const ConfigFile& file) {
  if (!file.parameter) return file.value.value_or("");
  const auto& parameters = translation.given().bindings.parameters;
  const auto given = parameters.find(*file.parameter);
  return given == parameters.end() ? "" : given->second;  // check_given() has refused its absence
}

Metadata exported_metadata(Translation& translation) {
  const Pod& pod = translation.pod();
  Metadata all = pod.metadata;
  const auto containers = all_containers(pod);
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> uses;
  for (const Container* container : containers)
    for (const auto& [name, value] : container->annotations) ++uses[{name, value}];
  for (const Container* container : containers)
    for (const auto& [name, value] : container->annotations) {
      if (uses.at({name, value}) == containers.size())
        all.annotations[name] = value;
      else
        translation.lose(container->place, "annotations",
                         "\"{}\" is an annotation of one container: there are only those of the "
                         "whole pod",
                         name);
    }
  return all;
}

ExportedAmounts exported_amounts(const Translation& translation, const Container& container) {
  const Pod& pod = translation.pod();
  ExportedAmounts out{.requests = container.resources.requests,
                      .limits = container.resources.limits};
  if (translation.given().requests == Requests::kHard) {
    if (!out.limits.cpus) out.limits.cpus = out.requests.cpus;
    if (!out.limits.memory) out.limits.memory = out.requests.memory;
  }
  if (pod.containers.size() == 1 && &container == &pod.containers.front()) {
    lower(out.limits.cpus, pod.limits.cpus);
    lower(out.limits.memory, pod.limits.memory);
  }
  return out;
}

std::vector<Volume> exported_volumes(const Pod& pod) {
  std::vector<Volume> all = pod.volumes;
  std::set<std::string> names;
  for (const Volume& volume : all) names.insert(volume.name);
  for (const Container* container : all_containers(pod))
    for (const MountPoint& point : container->mount_points)
      if (!is_mounted(*container, point) && names.insert(point.name).second) {
        Volume& added = all.emplace_back();
        added.name = added.source = point.name;
        added.kind = Volume::Source::kOperator;
        added.place = point.place;
      }
  return all;
}

bool is_entry_of(const HostPort& host, const Port& port, const Container& container) {
  return host.place == port.place ||
         std::ranges::find(container.ports, host.place, &Port::place) == container.ports.end();
}

bool leads_to(const HostPort& host, const Port& port) {
  if (!host.pod_port) return host.name == port.name;
  return host.pod_port->number == port.number && host.pod_port->protocol == port.protocol;
}

std::vector<const HostPort*> unlisted_host_ports(Translation& translation) {
  const Pod& pod = translation.pod();
  std::vector<const HostPort*> unlisted;
  for (const HostPort& host : pod.host_ports) {
    const bool is_listed = std::ranges::any_of(pod.containers, [&](const Container& container) {
      return std::ranges::any_of(container.ports,
                                 [&](const Port& port) { return leads_to(host, port); });
    });
    if (is_listed) continue;
    if (host.pod_port)
      unlisted.push_back(&host);
    else
      translation.lose(host.place, "name",
                       "no app lists a port \"{}\": podPort must say which one it is", host.name);
  }
  return unlisted;
}

std::uint64_t in_thousandths(double cpus) {
  // The least thousandth that is no less; a fraction such as 0.1 must not become 101.
  const double thousandths = std::ceil(cpus * 1000 - 1e-6);
  return static_cast<std::uint64_t>(std::clamp(thousandths, 1.0, 1e15));
}

std::string in_largest_unit(std::uint64_t bytes, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, units[unit]);
}

void lose_owner(Translation& translation, const Volume& volume, mode_t mode) {
  const Volume of_root;
  if (volume.mode != of_root.mode)
    translation.lose(volume.place, "mode", "an empty volume has the mode {:04o}, not {:04o}", mode,
                     volume.mode);
  if (volume.uid != of_root.uid)
    translation.lose(volume.place, "uid", "an empty volume belongs to root, not to {}",
                     volume.uid.value());
  if (volume.gid != of_root.gid)
    translation.lose(volume.place, "gid", "an empty volume belongs to root's group, not to {}",
                     volume.gid.value());
}

void lose_pod_limits(Translation& translation) {
  const Pod& pod = translation.pod();
  if ((pod.limits.cpus || pod.limits.memory) && pod.containers.size() > 1)
    translation.lose(pod.limits_place, "",
                     "there are no limits of several containers together: write one for each");
}

void lose_other_replicas(Translation& translation) {
  const auto& replicas = translation.pod().replicas;
  if (replicas && replicas->differs != nullptr)
    translation.lose(replicas->differs, "", "is another number of replicas than at {}",
                     bundle::pointer_to(*replicas->place));
}

bool uses_volume(const Container& container, const std::string& volume) {
  return std::ranges::find(container.mounts, volume, &Mount::volume) != container.mounts.end() ||
         std::ranges::any_of(container.mount_points, [&](const MountPoint& point) {
           return point.name == volume && !is_mounted(container, point);
         });
}

std::string unique_name(const std::string& name, std::set<std::string>& used) {
  std::string unique = name.empty() ? "volume" : name;
  for (int number = 2; !used.insert(unique).second; ++number)
    unique = fmt::format("{}-{}", name.substr(0, 55), number);
  return unique;
}

Place container_list_owner(const Container& container) { return container.place->parent->parent; }

bool is_mounted(const Container& container, const MountPoint& point) {
  return std::ranges::find(container.mounts, point.path, &Mount::path) != container.mounts.end();
}

bool is_read_only(const Container& container, const Mount& mount) {
  return mount.read_only ||
         std::ranges::any_of(container.mount_points, [&](const MountPoint& point) {
           return point.path == mount.path && point.read_only;
         });
}

std::string as_dns_label(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  std::string label;
  for (const char c : name) {
    const bool is_good = linux::is_alphanumeric(c);
    if (is_good || (!label.empty() && label.back() != '-'))
      label += is_good ? linux::lower(c) : '-';
  }
  label.resize(std::min(label.size(), kLongest));
  while (label.ends_with('-')) label.pop_back();
  return label;
}

}  // namespace ocirun::pods
