#include "pods/documents/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bundle/json/value.hpp"
#include "linux/base/name_table.hpp"
#include "pods/documents/readers.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kKinds =
    "a workload document is one of: OAM (kind: ContainerizedWorkload), App Container (acKind: "
    "PodManifest), Knative (apiVersion: serving.knative.dev/v1), Radius (properties with "
    "containers)";

constexpr linux::Named<Kind> kKindNames[] = {{"OAM ContainerizedWorkload", Kind::kOam},
                                             {"App Container pod manifest", Kind::kAppc},
                                             {"Knative workload", Kind::kKnative},
                                             {"Radius container resource", Kind::kRadius}};

using Reader = void (*)(bundle::Value, Pod&);

std::string_view text_of(const bundle::Node& root, std::string_view name) {
  const bundle::Node* member = root.find(name);
  return member != nullptr && member->is_string() ? member->text : std::string_view();
}

/// The reader of the kind of document that `root` looks like; nullptr: none.
Reader find_reader(const bundle::Node& root) {
  if (root.find("acKind") != nullptr || root.find("acVersion") != nullptr) return read_appc;
  const std::string_view version = text_of(root, "apiVersion");
  if (version.starts_with("serving.knative.dev/")) return read_knative;
  if (version.starts_with("core.oam.dev/") || text_of(root, "kind") == "ContainerizedWorkload")
    return read_oam;
  if (root.find("properties") != nullptr) return read_radius;
  return nullptr;
}

void read(bundle::Value document, Pod& out) {
  if (!document.expect_object()) return;
  if (const Reader reader = find_reader(document.node())) return reader(document, out);
  const std::string_view version = text_of(document.node(), "apiVersion");
  if (version.empty()) return document.problem("has an unknown kind: {}", kKinds);
  document.problem_at("apiVersion", "unknown version {}: {}", found(*document.member("apiVersion")),
                      kKinds);
}

}  // namespace

std::string Workload::at(Place place) const {
  const Mark mark = source->mark(place);
  if (mark.line == 0) return fmt::format("{}: {}", file, bundle::pointer_to(*place));
  return fmt::format("{}:{}:{}: {}", file, mark.line, mark.column, bundle::pointer_to(*place));
}

Workload read_workload(std::string file, std::string_view text) {
  Workload workload;
  workload.file = std::move(file);
  workload.source = std::make_unique<Source>();
  bundle::Report report;
  if (workload.source->parse(text, report))
    read(bundle::Value(*workload.source->root(), report), workload.pod);
  workload.problems = workload.source->problems(workload.file, report);
  workload.warnings = workload.source->warnings(workload.file, report);
  workload.problem_count = report.problem_count();
  return workload;
}

std::string_view name_of(Kind kind) { return linux::name_of(kKindNames, kind); }

}  // namespace ocirun::pods
