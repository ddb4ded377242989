#include "pods/documents/workload.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "bundle/json/value.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/name_table.hpp"
#include "pods/documents/appc/types.hpp"
#include "pods/documents/key_documents.hpp"
#include "pods/documents/knative/service.hpp"
#include "pods/documents/kubernetes/workload.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/documents/oam/application.hpp"
#include "pods/documents/other_kinds.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

constexpr linux::Named<Kind> kKindNames[] = {{"OAM ContainerizedWorkload", Kind::kOam},
                                             {"App Container pod manifest", Kind::kAppc},
                                             {"Knative workload", Kind::kKnative},
                                             {"Radius container resource", Kind::kRadius},
                                             {"Kubernetes workload", Kind::kKubernetes}};

using Reader = void (*)(bundle::Value, Pod&);

/// The reader of the kind of document that `root` looks like; nullptr: none.
Reader find_reader(const bundle::Node& root) {
  if (root.find("acKind") != nullptr || root.find("acVersion") != nullptr) return read_appc;
  const std::string_view version = text_of_member(root, "apiVersion");
  if (version.starts_with("serving.knative.dev/")) return read_knative;
  if (version.starts_with("core.oam.dev/") ||
      text_of_member(root, "kind") == "ContainerizedWorkload")
    return read_oam;
  if (is_kubernetes_workload(root)) return read_kubernetes;
  if (root.find("properties") != nullptr) return read_radius;
  return nullptr;
}

/// The documents of a file, with those of a list (kind: List) in its place.
std::vector<bundle::Value> documents_of(const Source& source, bundle::Report& report) {
  std::vector<bundle::Value> documents;
  for (const bundle::Node* root : source.roots()) {
    const bundle::Value document(*root, report);
    const auto items = document.member("items");
    if (!root->is_object() || text_of_member(*root, "kind") != "List" || !items) {
      documents.push_back(document);
      continue;
    }
    struct List {};
    static constexpr auto kMetadata =
        exact_fields<List>(no_effect("name", "a list needs none")).beside(&warn_of_cluster_name);
    static constexpr auto kList = exact_fields<List>(
        part("apiVersion",
             [](bundle::Value at, List&) {
               if (at.node().is_string() && at.node().text == "v1") return true;
               at.problem("must be v1, not {}", found(at));
               return false;
             }),
        part("kind", any_value), part("metadata", kMetadata), part("items", any_value));
    List list;
    if (kList(document, list) && items->expect_list())
      for (const bundle::Value item : *items) documents.push_back(item);
  }
  return documents;
}

/// Reads the documents of a file: one workload, and the config maps and secrets beside it.
class FileReader {
 public:
  FileReader(Source& source, bundle::Report& report, Pod& out)
      : source_(source), report_(report), out_(out) {}

  void read() {
    const std::size_t before = report_.problem_count();
    auto documents = documents_of(source_, report_);
    for (const bundle::Value document : documents) documents_.push_back(&document.node());
    has_workload_ = std::ranges::any_of(documents, [](bundle::Value document) {
      return document.node().is_object() && !is_key_document(document.node()) &&
             !stands_beside(document.node()) && find_reader(document.node()) != nullptr;
    });
    oam_application(documents, source_.document(), out_);
    for (const bundle::Value document : documents) read(document);
    for (const bundle::Value document : beside_) read_beside(document);
    if (workload_ != nullptr || report_.problem_count() != before) return;
    report_.problem(fmt::format("the file has no workload: {}", kWorkloadKinds), source_.root());
  }

  std::vector<Place> take_documents() { return std::move(documents_); }

  /// Warns of documents that nothing in the pod uses. The pod must be whole.
  void tell_unused() {
    std::vector<std::string> used = used_secrets(out_);
    std::ranges::sort(used);
    for (const auto& [name, document] : out_.key_documents)
      if (!std::ranges::binary_search(used, name))
        bundle::Value(*document.place, report_)
            .warning("has no effect: nothing in the workload uses {}", shown_secret(name));
  }

 private:
  void read(bundle::Value document) {
    if (!document.expect_object()) return;
    if (is_key_document(document.node())) return read_keys(document);
    if (stands_beside(document.node())) return beside_.push_back(document);
    const Reader reader = find_reader(document.node());
    if (reader == nullptr) return refuse(document);
    if (workload_ != nullptr)
      return document.problem(
          "is a second workload, {}; the first is {} at line {}: each is a pod of its own, and "
          "needs a file and an `ocirun pod run` of its own",
          shown(document.node()), shown(*workload_), source_.mark(workload_).line);
    workload_ = &document.node();
    reader(document, out_);
  }

  void read_keys(bundle::Value document) {
    NamedKeys keys;
    if (!read_key_document(document, keys)) return;
    const auto [first, is_new] =
        out_.key_documents.emplace(std::move(keys.name), std::move(keys.document));
    if (is_new) return;
    document.problem("{} is given twice, first at line {}", shown_secret(first->first),
                     source_.mark(first->second.place).line);
  }

  /// The kind and the name of a document: "the Deployment \"web\"".
  static std::string shown(const bundle::Node& document) {
    std::string_view kind = text_of_member(document, "kind");
    if (kind.empty()) kind = text_of_member(document, "acKind");
    const bundle::Node* metadata = document.find("metadata");
    const std::string_view name =
        text_of_member(metadata == nullptr ? document : *metadata, "name");
    return fmt::format("the {}{}", kind.empty() ? "resource" : kind,
                       name.empty() ? "" : " " + bundle::in_quotes(name));
  }

  /// Reads a document that stands beside a workload of Kubernetes, which must have been read.
  void read_beside(bundle::Value document) {
    if (workload_ == nullptr) return;  // read() says so
    if (out_.kind != Kind::kKubernetes || report_.ignores(text_of_member(document.node(), "kind")))
      return refuse(document);
    if (report_.ok()) read_document_beside(document, out_);
  }

  /// Refuses a document, or leaves it out if --ignore names its kind.
  void refuse(bundle::Value document) {
    const std::string_view kind = text_of_member(document.node(), "kind");
    if (!kind.empty() && report_.ignores(kind)) {
      report_.leave_out(document.node());
      return document.warning("is left out, because of --ignore {}", kind);
    }
    refuse_kind(document, has_workload_ ? BesideWorkload::kYes : BesideWorkload::kNo);
  }

  Source& source_;
  bundle::Report& report_;
  Pod& out_;
  bool has_workload_ = false;  // somewhere in the file
  const bundle::Node* workload_ = nullptr;
  std::vector<Place> documents_;
  std::vector<bundle::Value> beside_;  // are read after the workload
};

/// The name with which --ignore leaves out the part; "": nothing does.
std::string_view name_to_ignore(const Elsewhere& part) {
  if (!part.can_be_ignored) return "";
  if (!part.name.empty()) return part.name;
  return part.place == nullptr ? std::string_view() : part.place->key;
}

/// Turns the parts that --ignore names into warnings.
void leave_out_elsewhere(bundle::Report& report, Pod& pod) {
  std::erase_if(pod.elsewhere, [&](const Elsewhere& part) {
    const std::string_view name = name_to_ignore(part);
    if (name.empty() || !report.ignores(name)) return false;
    report.leave_out(*part.place);
    if (pod.replicas && pod.replicas->place == part.place) pod.replicas.reset();
    if (pod.scaling && pod.scaling->place == part.place) pod.scaling.reset();
    bundle::Value(*part.place, report)
        .warning("is left out, because of --ignore {}: {}", name, part.sentence);
    return true;
  });
}

/// Takes what the reader of Kubernetes has not supported into the pod: an export copies it.
void keep_unsupported(const bundle::Report& report, Pod& pod) {
  for (const bundle::Report::Unsupported& part : report.unsupported())
    pod.elsewhere.push_back({.sentence = part.sentence,
                             .place = part.node,
                             .name = part.name,
                             .is_copied = part.written == bundle::Report::Export::kCopied,
                             .can_be_ignored = !part.name.empty()});
}

/// Whether the value is one of a member that only a cluster honours.
bool is_for_cluster(const KubernetesParts& parts, Place place) {
  const auto has = [&](const std::vector<Place>& places) {
    return std::ranges::find(places, place) != places.end();
  };
  for (; place != nullptr; place = place->parent)
    if (has(parts.of_pod) || has(parts.of_controller)) return true;
  return false;
}

/// Whether `pod export` copies a value of a document of Kubernetes: of a document beside the
/// workload, or of a member that only a cluster honours.
bool is_copied(const KubernetesParts& parts, Place place) {
  if (is_for_cluster(parts, place)) return true;
  while (place != nullptr && place != parts.document) place = place->parent;
  return place == nullptr;
}

bool is_left_out(const Workload& workload, Place place) {
  return std::ranges::find(workload.left_out, place) != workload.left_out.end();
}

/// Whether `pod export --to swarm` takes account of a value that has no effect here: a port of a
/// Service is one of the nodes (RX-7), and a member for a cluster of Kubernetes is an error.
bool is_told_for_swarm(const Workload& workload, Place place) {
  if (place == nullptr || is_left_out(workload, place)) return false;
  if (workload.pod.kind == Kind::kRadius) return place->key == "port";
  return workload.pod.kind == Kind::kKubernetes && is_for_cluster(*workload.pod.kubernetes, place);
}

/// Whether `pod export` writes a value that has no effect here. All of Knative's documents goes to
/// Kubernetes.
bool is_written_by_export(const Workload& workload, Place place) {
  if (place == nullptr || is_left_out(workload, place)) return false;
  if (workload.pod.kind == Kind::kOam) return place->key == "imagePullSecret";
  if (workload.pod.kind == Kind::kRadius) return place->key == "port";  // a Service's (RX-7)
  if (workload.pod.kind == Kind::kKubernetes) return is_copied(*workload.pod.kubernetes, place);
  return workload.pod.kind == Kind::kKnative;
}

}  // namespace

std::string Workload::at(Place place) const {
  const Mark mark = source->mark(place);
  if (mark.line == 0) return fmt::format("{}: {}", file, bundle::pointer_to(*place));
  return fmt::format("{}:{}:{}: {}", file, mark.line, mark.column, bundle::pointer_to(*place));
}

std::string Workload::at(const Elsewhere& part) const {
  const auto& replicas = pod.replicas;
  const bool is_replicas =
      replicas && (part.place == replicas->place || part.place == replicas->differs);
  const std::string_view name = name_to_ignore(part);
  return fmt::format("{}: {}; `ocirun pod export --to {}` writes it for a cluster{}",
                     at(part.place), part.sentence,
                     is_replicas ? "kubernetes` or `--to swarm" : "kubernetes",
                     name.empty() ? "" : fmt::format(" (--ignore {} leaves it out)", name));
}

Workload read_workload(std::string file, std::string_view text,
                       std::span<const std::string> ignored) {
  Workload workload;
  workload.file = std::move(file);
  workload.text = text;
  workload.source = std::make_unique<Source>();
  bundle::Report report;
  report.ignore(ignored);
  FileReader reader(*workload.source, report, workload.pod);
  if (workload.source->parse(text, report)) {
    reader.read();
    leave_out_elsewhere(report, workload.pod);
    keep_unsupported(report, workload.pod);
    if (report.ok()) reader.tell_unused();
  }
  workload.documents = reader.take_documents();
  workload.left_out = report.left_out();
  workload.problems = workload.source->problems(workload.file, report);
  workload.warnings = workload.source->warnings(workload.file, report);
  workload.export_warnings = workload.source->warnings(
      workload.file, report,
      [&](const bundle::Node* node) { return !is_written_by_export(workload, node); });
  workload.swarm_warnings = workload.source->warnings(
      workload.file, report,
      [&](const bundle::Node* node) { return !is_told_for_swarm(workload, node); });
  workload.problem_count = report.problem_count();
  workload.unused_ignored = report.unused_ignored();
  return workload;
}

std::string_view name_of(Kind kind) { return linux::name_of(kKindNames, kind); }

std::string shown_kind(const Pod& pod) {
  if (pod.kubernetes) return fmt::format("Kubernetes {}", pod.kubernetes->kind);
  return std::string(name_of(pod.kind));
}

}  // namespace ocirun::pods
