#include "pods/export/translation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "linux/base/text.hpp"
#include "pods/model/scalars.hpp"
#include "pods/plan/variables.hpp"

namespace ocirun::pods {
namespace {

/// A comment of YAML. The sentence may have a stranger's text, and stays in one line: U+2028 and
/// U+2029 end a line in YAML 1.1.
std::string comment(std::string_view sentence) {
  std::string line = linux::in_one_line(sentence);
  for (const std::string_view separator : {"\u2028", "\u2029"})
    for (std::size_t at = 0; (at = line.find(separator, at)) != std::string::npos;)
      line.replace(at, separator.size(), " ");
  return fmt::format("# {}\n", line);
}

constexpr std::size_t kMostListed = 100;  // losses in an error

/// The member `name` of an object in `node`, or the item of a list that has the name, with or
/// without the prefix that an App Container's annotations get.
const bundle::Node* find_named(const bundle::Node& node, std::string_view name) {
  constexpr std::string_view kPrefix = "appc.";
  if (node.key == name) return &node;
  const std::string_view text = text_of_member(node, "name");
  if (!text.empty() && name.starts_with(kPrefix) && name.substr(kPrefix.size()) == text)
    return &node;
  for (const bundle::Node* child = node.first; child != nullptr; child = child->next)
    if (const bundle::Node* found = find_named(*child, name)) return found;
  return nullptr;
}

/// Members of Knative's documents, and of those beside them, that are booleans.
bool is_boolean_member(std::string_view key) {
  static constexpr std::string_view kNames[] = {"optional",
                                                "readOnly",
                                                "runAsNonRoot",
                                                "latestRevision",
                                                "immutable",
                                                "readOnlyRootFilesystem",
                                                "enableServiceLinks",
                                                "allowPrivilegeEscalation",
                                                "automountServiceAccountToken"};
  return std::ranges::find(kNames, key) != std::end(kNames);
}

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

void Translation::add_loss(Place place, std::string_view member, std::string sentence) {
  const Workload& workload = request_->workload;
  while (place != nullptr && !member.empty()) {  // as far as the document has the members
    const std::string_view name = member.substr(0, member.find('/'));
    const bundle::Node* child = place->find(name);
    if (child == nullptr) break;
    place = child;
    member.remove_prefix(std::min(name.size() + 1, member.size()));
  }
  std::string where = place == nullptr ? workload.file : workload.at(place);
  if (place != nullptr && !member.empty()) where.append("/").append(member);
  losses_.push_back(fmt::format("{}: {}", where, sentence));
}

void Translation::add_named_loss(std::string_view name, std::string sentence) {
  const bundle::Node* found = nullptr;
  if (losses_.size() < kMostListed)  // a search takes time
    for (const bundle::Node* root : request_->workload.source->roots())
      if (found == nullptr) found = find_named(*root, name);
  add_loss(found, "", std::move(sentence));
}

bundle::Node* Translation::copy(const bundle::Node& node) {
  bundle::Node* out = document_.make(node.kind);
  *out = node;
  out->first = out->next = nullptr;
  bool flag = false;
  bundle::Report unread;
  if (node.is_string() && node.plain && is_boolean_member(node.key) &&
      boolean(bundle::Value(node, unread), flag)) {
    out->kind = bundle::Node::Kind::kBoolean;
    out->boolean = flag;
  }
  bundle::Node** link = &out->first;
  for (const bundle::Node* child = node.first; child != nullptr; child = child->next) {
    if (left_out_.contains(child)) continue;
    *link = copy(*child);
    (*link)->parent = out;
    link = &(*link)->next;
  }
  return out;
}

YamlPart Translation::copy_of(const bundle::Node& node) { return {document_, copy(node)}; }

void Translation::expect(std::string sentence) {
  if (std::ranges::find(expected_, sentence) == expected_.end())
    expected_.push_back(std::move(sentence));
}

Result<Exported> Translation::finish() {
  if (!losses_.empty() && !request_->lossy) {
    const std::size_t count = losses_.size();
    losses_.resize(std::min(count, kMostListed));
    return refuse("{}; --lossy leaves {} out", fmt::join(losses_, "; "),
                  count == 1 ? "it" : fmt::format("these {}", count));
  }
  Exported out{.text = {}, .files = {}, .notes = std::move(notes_)};
  if (!introduction_.empty()) out.text += comment(introduction_);
  for (const std::string& sentence : expected_) out.text += comment("Needs " + sentence);
  for (const std::string& sentence : losses_) out.text += comment("Left out: " + sentence);
  bool is_first = true;
  for (const bundle::Node* document : documents_) {
    if (!std::exchange(is_first, false)) out.text += "---\n";
    out.text += yaml_text(*document);
  }
  return out;
}

std::string exported_pull_policy(const ExportRequest& request) {
  const auto policy = request.given.pulling.policy;
  if (!policy) return "";
  switch (*policy) {
    case PullPolicy::kAlways:
      return "Always";
    case PullPolicy::kMissing:
      return "IfNotPresent";
    case PullPolicy::kNever:
      return "Never";
  }
  return "";
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
  for (const auto& [name, value] : connection_variables(pod, translation.request().given.bindings))
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
  const auto& parameters = translation.request().given.bindings.parameters;
  const auto given = parameters.find(*file.parameter);
  return given == parameters.end() ? "" : given->second;  // check_given() has refused its absence
}

std::map<std::string, std::string> exported_annotations(Translation& translation) {
  const Pod& pod = translation.pod();
  std::map<std::string, std::string> all = pod.annotations;
  for (const auto& [name, value] : pod.labels) all.erase(name);
  const auto containers = all_containers(pod);
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> uses;
  for (const Container* container : containers)
    for (const auto& [name, value] : container->annotations) ++uses[{name, value}];
  for (const Container* container : containers)
    for (const auto& [name, value] : container->annotations) {
      if (uses.at({name, value}) == containers.size())
        all[name] = value;
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
  if (translation.request().given.requests == Requests::kHard) {
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
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_good || (!label.empty() && label.back() != '-')) label += is_good ? c : '-';
  }
  label.resize(std::min(label.size(), kLongest));
  while (label.ends_with('-')) label.pop_back();
  return label;
}

}  // namespace ocirun::pods
