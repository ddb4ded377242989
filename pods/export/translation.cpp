#include "pods/export/translation.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "linux/base/text.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/documents/model/yaml_words.hpp"

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

/// Members of copied documents that Kubernetes wants as booleans.
bool is_boolean_member(std::string_view key) {
  static constexpr std::string_view kNames[] = {"optional",
                                                "readOnly",
                                                "runAsNonRoot",
                                                "latestRevision",
                                                "immutable",
                                                "readOnlyRootFilesystem",
                                                "enableServiceLinks",
                                                "allowPrivilegeEscalation",
                                                "publishNotReadyAddresses",
                                                "allocateLoadBalancerNodePorts",
                                                "paused",
                                                "hostIPC",
                                                "hostPID",
                                                "privileged",
                                                "setHostnameAsFQDN",
                                                "stdin",
                                                "stdinOnce",
                                                "tty",
                                                "hostUsers",
                                                "automountServiceAccountToken"};
  return std::ranges::find(kNames, key) != std::end(kNames);
}

}  // namespace

Translation::Translation(const ExportRequest& request)
    : request_(&request),
      left_out_(request.completed.workload().left_out.begin(),
                request.completed.workload().left_out.end()) {
  for (const Elsewhere& part : pod().elsewhere) {
    if (!part.is_copied) continue;
    to_copy_.insert(part.place);
    for (Place place = part.place; place != nullptr && around_copied_.insert(place).second;)
      place = place->parent;
  }
}

void Translation::copy_parts(const bundle::Node& object, YamlPart& out) {
  for (const bundle::Node* member = object.first; member != nullptr; member = member->next) {
    if (!has_copied_parts(member)) continue;
    const bool is_part = to_copy_.contains(member);
    if (member->is_object() && !is_part) {
      YamlPart same = out.object_in(member->key);
      copy_parts(*member, same);
    } else if (is_part) {
      bundle::Editor::remove(out.node(), member->key);
      out.add(member->key, copy_of(*member));
    }
  }
}

void Translation::lose_parts_without_copy() {
  for (const Elsewhere& part : pod().elsewhere)
    if (to_copy_.contains(part.place))
      lose(part.place, "", "has no place in the objects that are written");
}

void Translation::add_loss(Place place, std::string_view member, std::string sentence) {
  const Workload& workload = request_->completed.workload();
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
    for (const bundle::Node* root : request_->completed.workload().source->roots())
      if (found == nullptr) found = find_named(*root, name);
  add_loss(found, "", std::move(sentence));
}

bundle::Node* Translation::copy(const bundle::Node& node) {
  to_copy_.erase(&node);
  bundle::Node* out = document_.make(node.kind);
  *out = node;
  out->first = out->next = nullptr;
  bool flag = false;
  bundle::Report unread;
  if (node.is_string() && node.plain && is_boolean_member(node.key) &&
      boolean(bundle::Value(node, unread), flag)) {
    out->kind = bundle::Node::Kind::kBoolean;
    out->boolean = flag;
  } else if (node.is_string() && node.plain && yaml_1_1_value(node.text)) {
    out->kind = bundle::Node::Kind::kOther;  // a value for kubectl, in what only a cluster reads
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
    return refuse("{}; --lossy writes {}", fmt::join(losses_, "; "),
                  count == 1 ? "it as a comment" : fmt::format("these {} as comments", count));
  }
  Exported out{.text = {}, .files = {}, .notes = std::move(notes_)};
  if (!introduction_.empty()) out.text += comment(introduction_);
  for (const std::string& sentence : expected_) out.text += comment("Needs " + sentence);
  for (const std::string& sentence : losses_) out.text += comment("Differs: " + sentence);
  bool is_first = true;
  for (const bundle::Node* document : documents_) {
    if (!std::exchange(is_first, false)) out.text += "---\n";
    out.text += yaml_text(*document);
  }
  return out;
}

std::vector<Place> documents_to_copy(const Workload& workload) {
  std::vector<Place> documents = workload.documents;
  const std::set<Place> left_out(workload.left_out.begin(), workload.left_out.end());
  std::erase_if(documents, [&](Place document) { return left_out.contains(document); });
  return documents;
}

void remove_members_of_cluster(YamlPart& document) {
  bundle::Editor::remove(document.node(), "status");
  bundle::Node* metadata = bundle::member_of(document.node(), "metadata");
  if (metadata == nullptr) return;
  for (const bundle::Node* member = metadata->first; member != nullptr;) {
    const bundle::Node* next = member->next;
    if (is_set_by_cluster(member->key)) bundle::unlink(metadata, member);
    member = next;
  }
}

}  // namespace ocirun::pods
