#include "pods/documents/knative/service.hpp"

#include <algorithm>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/kept.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

// The order in which the containers of a Cloud Run service start.

/// "a, b, a": containers each of which starts after the next; "" if there is no such circle.
std::string find_circle(const Pod& pod) {
  std::map<std::string_view, const Container*> waiting;
  for (const Container& container : pod.containers) waiting.emplace(container.name, &container);
  const auto waits_for = [&](const Container& container) {
    return std::ranges::find_if(container.starts_after,
                                [&](const std::string& name) { return waiting.contains(name); });
  };
  // Removes containers that can start, until there are none. A circle is left.
  for (std::size_t before = 0; before != waiting.size();) {
    before = waiting.size();
    std::erase_if(waiting, [&](const auto& entry) {
      return waits_for(*entry.second) == entry.second->starts_after.end();
    });
  }
  if (waiting.empty()) return "";
  std::vector<std::string_view> way{waiting.begin()->first};
  for (;;) {
    const std::string_view next = *waits_for(*waiting.at(way.back()));
    const auto begin = std::ranges::find(way, next);
    const bool is_closed = begin != way.end();
    if (is_closed) way.erase(way.begin(), begin);
    way.push_back(next);
    if (is_closed) return bundle::comma_list(way);
  }
}

/// The container `name`; nullptr after a problem of `at`.
Container* find_container(Value at, std::string_view name, Pod& pod) {
  const auto found = std::ranges::find(pod.containers, name, &Container::name);
  if (found != pod.containers.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Container& container : pod.containers) known.push_back(container.name);
  if (std::ranges::find(pod.init_containers, name, &Container::name) != pod.init_containers.end())
    at.problem("\"{}\" is an init container: it ends before any of the containers starts", name);
  else
    at.problem("there is no container \"{}\" (known: {})", name, bundle::comma_list(known));
  return nullptr;
}

/// Reads `list`, the names of the containers that start before `container`. `list` is a part of the
/// text of the annotation `at`, which problems name.
bool read_list(Value at, Value list, Container& container, Pod& pod) {
  if (!list.node().is_array()) {
    at.problem("\"{}\" must have a list of containers, not {}", container.name, found(list));
    return false;
  }
  for (const Value item : list) {
    if (!item.node().is_string()) {
      at.problem("\"{}\" must have a list of names, not of {}", container.name, found(item));
      return false;
    }
    const Container* before = find_container(at, item.node().text, pod);
    if (before == nullptr) return false;
    if (std::ranges::find(container.starts_after, before->name) == container.starts_after.end())
      container.starts_after.push_back(before->name);
  }
  return true;
}

/// Reads the annotation `at` of Cloud Run, run.googleapis.com/container-dependencies: the text of a
/// JSON object of containers, each with the list of those that start before it. Reports unknown
/// names and circles. An empty text gives no order.
void read_start_order(Value at, Pod& pod) {
  bundle::Document document;
  bundle::Report report;
  std::string text;
  if (!string(at, text) || text.empty()) return;
  if (!document.parse(text, report))
    return at.problem("must be the text of a JSON object: {}", report.problems().front());
  if (!document.root()->is_object())
    return at.problem("must be the text of a JSON object of containers, not {}",
                      found(Value(*document.root(), report)));
  if (!report.ok()) return at.problem("{}", report.problems().front());
  for (const Value member : Value(*document.root(), report)) {
    Container* container = find_container(at, member.key(), pod);
    if (container == nullptr || !read_list(at, member, *container, pod)) return;
  }
  if (const std::string names = find_circle(pod); !names.empty())
    at.problem("none of a circle of containers can start first: {}", names);
}

constexpr std::string_view kOneInstance = "one machine runs one instance";
constexpr std::string_view kByTheCluster = "a cluster sets it";

struct NamedMetadata : Metadata {
  std::string name;
  Place annotations_place = nullptr;
};

constexpr auto kMetadata =
    exact_fields<NamedMetadata>(field("name", &NamedMetadata::name, dns_name),
                                field("labels", &NamedMetadata::labels, string_map),
                                part("annotations",
                                     [](Value at, NamedMetadata& out) {
                                       out.annotations_place = &at.node();
                                       return string_map(at, out.annotations);
                                     }))
        .beside(&warn_of_cluster_name);

/// Reads the annotations that ask for a number of instances.
void read_scaling(const NamedMetadata& metadata, bundle::Report& report, Pod& out) {
  if (metadata.annotations_place == nullptr) return;
  for (const Value item : Value(*metadata.annotations_place, report)) {
    const std::string_view name = item.key();
    if (!name.starts_with("autoscaling.knative.dev/")) continue;
    const std::string_view text = item.node().text;
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    const bool least = name.ends_with("/min-scale") || name.ends_with("/minScale") ||
                       name.ends_with("/initial-scale");
    if (least && is_number && text != "0" && text != "1")
      out.elsewhere.push_back(
          {fmt::format("{} instances need several machines: one machine runs 1", text),
           &item.node()});
    else
      item.warning("has no effect: {}", kOneInstance);
  }
}

constexpr std::string_view kDependencies = "run.googleapis.com/container-dependencies";

std::optional<Value> dependencies_of(std::optional<Value> object) {
  for (const std::string_view name :
       {std::string_view("metadata"), std::string_view("annotations"), kDependencies})
    if (object) object = object->member(name);
  return object;
}

/// The order of start belongs to the metadata of a revision, here or in the template.
void read_order(Value document, Pod& out) {
  auto own = dependencies_of(document);
  auto spec = document.member("spec");
  if (const auto in_template = dependencies_of(spec ? spec->member("template") : spec))
    read_start_order(*in_template, out);
  else if (own && !(spec && spec->member("template")))
    return read_start_order(*own, out);
  if (own) own->warning("has no effect here: it belongs to /spec/template/metadata/annotations");
}

/// Warns of annotations with which Cloud Run gives the containers something, and ocirun does not.
void warn_of_cloud(const NamedMetadata& metadata, bundle::Report& report) {
  constexpr std::string_view kNetwork = "the pod has the network that --net gives it";
  static constexpr std::pair<std::string_view, std::string_view> kGifts[] = {
      {"run.googleapis.com/cloudsql-instances", "no proxy of Cloud SQL runs beside the containers"},
      {"run.googleapis.com/vpc-access-connector", kNetwork},
      {"run.googleapis.com/vpc-access-egress", kNetwork},
      {"run.googleapis.com/network-interfaces", kNetwork},
      {"run.googleapis.com/secrets", "--secret ID=DIR gives a secret under its name here"}};
  if (metadata.annotations_place == nullptr) return;
  for (const Value item : Value(*metadata.annotations_place, report))
    for (const auto& [name, why] : kGifts)
      if (item.key() == name) item.warning("has no effect: {}", why);
}

bool read_metadata(Value at, Pod& out, std::string& name, Metadata& kept) {
  NamedMetadata metadata;
  if (!kMetadata(at, metadata)) return false;
  name = metadata.name;
  read_scaling(metadata, at.report(), out);
  warn_of_cloud(metadata, at.report());
  keep_metadata(std::move(metadata), kept);
  return true;
}

/// The template of a Configuration and of a Service.
constexpr auto kTemplate =
    exact_fields<Pod>(part("metadata",
                           [](Value at, Pod& out) {
                             return read_metadata(at, out, out.knative->revision, out.metadata);
                           }),
                      required_part("spec", knative_revision));

struct Target {
  std::optional<std::uint32_t> percent;
  bool latest = false;
  std::string revision, tag;
};

/// Where the requests go: all to the revision of the template, or to several, which needs a router.
bool traffic(Value at, Pod& out) {
  static constexpr auto kTarget = exact_fields<Target>(
      field("percent", &Target::percent, whole_number(0, 100)),
      field("latestRevision", &Target::latest, boolean),
      field("revisionName", &Target::revision, dns_name), field("tag", &Target::tag, dns_label),
      no_effect("configurationName", kByTheCluster), no_effect("url", kByTheCluster));
  std::vector<Target> targets;
  if (!list_of(kTarget)(at, targets)) return false;
  const auto is_plain = [](const Target& target) {
    return target.latest && target.percent.value_or(100) == 100 && target.revision.empty() &&
           target.tag.empty();
  };
  const bool plain = targets.empty() || (targets.size() == 1 && is_plain(targets[0]));
  if (!plain)
    out.elsewhere.push_back(
        {"traffic to anything but 100 percent to the latest revision needs a router in front of "
         "the containers",
         &at.node()});
  return true;
}

constexpr auto kServiceSpec =
    exact_fields<Pod>(required_part("template", kTemplate), part("traffic", traffic));
constexpr auto kConfigurationSpec = exact_fields<Pod>(required_part("template", kTemplate));

/// The metadata of a Revision are those of its pods. A Service or a Configuration has a template
/// for them.
bool metadata(Value at, Pod& out) {
  Metadata& kept = out.controller_metadata ? *out.controller_metadata : out.metadata;
  if (!read_metadata(at, out, out.name, kept)) return false;
  if (!out.name.empty()) return true;
  at.problem_at("name", "is missing, it is required");
  return false;
}

template <typename Spec>
void read_document(Value at, Pod& out, Spec spec) {
  exact_fields<Pod>(part("apiVersion", any_value), part("kind", any_value),
                    required_part("metadata", metadata), required_part("spec", spec),
                    no_effect("status", kByTheCluster))(at, out);
}

enum class Document : std::uint8_t { kService, kConfiguration, kRevision };
constexpr linux::Named<Document> kDocuments[] = {{"Service", Document::kService},
                                                 {"Configuration", Document::kConfiguration},
                                                 {"Revision", Document::kRevision}};
constexpr auto kDocumentKind = word_of<kDocuments>("kind");

}  // namespace

void read_knative(Value at, Pod& out) {
  out.kind = Kind::kKnative;
  out.restart = Restart::kAlways;
  out.knative.emplace();
  const auto version = at.member("apiVersion");
  if (version && version->node().text != "serving.knative.dev/v1")
    version->problem("must be serving.knative.dev/v1, not {}", found(*version));
  const auto kind = at.member("kind");
  Document document{};
  if (!kind) return at.problem_at("kind", "is missing, it is required");
  if (!kDocumentKind(*kind, document)) return;
  KnativeNames& names = *out.knative;
  if (document != Document::kRevision) out.controller_metadata.emplace();
  switch (document) {
    case Document::kService:
      read_document(at, out, kServiceSpec);
      names.service = names.configuration = out.name;
      break;
    case Document::kConfiguration:
      read_document(at, out, kConfigurationSpec);
      names.configuration = out.name;
      break;
    case Document::kRevision:
      read_document(at, out, knative_revision);
      names.revision = out.name;
      break;
  }
  read_order(at, out);
  if (names.revision.empty())
    names.revision = out.name + "-00001";  // the name of the first revision in a cluster
}

}  // namespace ocirun::pods
