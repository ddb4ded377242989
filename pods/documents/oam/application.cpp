#include "pods/documents/oam/application.hpp"

#include <algorithm>
#include <array>

#include "pods/documents/model/kept.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kConfigurationKind = "ApplicationConfiguration";
constexpr std::string_view kComponentKind = "Component";
constexpr std::string_view kKubeVelaKind = "Application";  // of core.oam.dev/v1beta1
/// Documents that tell a cluster how to deal with others.
constexpr std::array<std::string_view, 7> kDefinitions = {
    "WorkloadDefinition",  "TraitDefinition",  "ScopeDefinition",       "HealthScope",
    "ComponentDefinition", "PolicyDefinition", "WorkflowStepDefinition"};

/// The kind of a document of OAM; "" for any other document.
std::string_view kind_of(Value document) {
  const bundle::Node& root = document.node();
  const bool is_oam = text_of_member(root, "apiVersion").starts_with("core.oam.dev/");
  return is_oam ? text_of_member(root, "kind") : std::string_view();
}

/// Accepts ManualScalerTrait, which asks for a number of instances. Refuses all other traits, which
/// change what is around the workload.
bool trait(Value at, Pod& out) {
  std::string_view kind = text_of_member(at.node(), "kind");
  if (kind.empty()) kind = text_of_member(at.node(), "name");
  const auto spec = at.member("spec");
  const auto count = spec && spec->node().is_object() ? spec->member("replicaCount") : spec;
  if (kind == "ManualScalerTrait" && count) {
    std::uint32_t replicas = 0;
    if (!whole_number(1, 2'147'483'647)(*count, replicas)) return false;
    ask_for_replicas(*count, replicas, out);
    return true;
  }
  if (kind.empty()) {
    at.problem("must have a kind");
    return false;
  }
  return refuse_known(at, kind, fmt::format("the trait {} is one of a cluster", kind));
}

struct Named {
  std::string name;
  Place place = nullptr;
  Pod* pod = nullptr;
  std::vector<ParameterValue> values;
};

constexpr auto kTrait = exact_fields<Named>(
    required_part("trait", [](Value at, Named& out) { return trait(at, *out.pod); }),
    no_effect("dataOutputs", "the trait is left out"),
    no_effect("dataInputs", "the trait is left out"));

bool traits(Value at, Named& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) good &= kTrait(item, out);
  return good;
}

constexpr auto scopes = [](Value at, Named&) {
  if (!at.expect_list()) return false;
  for (const Value item : at) {
    const auto reference = item.member("scopeRef");
    item.warning("has no effect: the scope \"{}\" is a group of components in a cluster",
                 reference ? text_of_member(reference->node(), "name") : "");
  }
  return true;
};

constexpr std::string_view kNoData = "nothing passes values between components here";

constexpr auto kEntry = placed(exact_fields<Named>(
    required("componentName", &Named::name, nonempty_string),
    bundle::refused_part("revisionName", "componentName",
                         [](Value at, auto&) {
                           at.problem(
                               "is not supported: there are no earlier revisions, componentName "
                               "names the component");
                           return false;
                         }),
    field("parameterValues", &Named::values, parameter_values), part("traits", traits),
    part("scopes", scopes), not_supported("dataInputs", kNoData),
    not_supported("dataOutputs", kNoData)));

bool entries(Value at, std::vector<Named>& out, Pod& pod) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) {
    out.emplace_back().pod = &pod;
    good &= kEntry(item, out.back());
  }
  if (out.size() == 1) return good;
  at.problem(
      "must have one component, not {}: each is a pod of its own here, and needs a file of its own",
      out.size());
  return false;
}

constexpr std::string_view kNothingSelects = "the component and its workload have their own";

constexpr auto version = [](Value at, auto& /*out*/) {
  if (at.node().is_string() && at.node().text == "core.oam.dev/v1alpha2") return true;
  at.problem("must be core.oam.dev/v1alpha2, not {}", found(at));
  return false;
};

/// Reads an ApplicationConfiguration, and returns the entry of its only component. Nothing if the
/// configuration has a fault.
std::optional<Named> read_configuration(Value at, Pod& pod) {
  struct Configuration {
    std::vector<Named> entries;
    Pod* pod;
  };
  static constexpr auto kSpec =
      exact_fields<Configuration>(required_part("components", [](Value list, Configuration& out) {
        return entries(list, out.entries, *out.pod);
      }));
  static constexpr auto kMetadata =
      exact_fields<Configuration>(required_part("name", any_value),
                                  no_effect("labels", kNothingSelects),
                                  no_effect("annotations", kNothingSelects))
          .beside(&warn_of_cluster_name);
  static constexpr auto kTable = exact_fields<Configuration>(
      part("apiVersion", version), part("kind", any_value), required_part("metadata", kMetadata),
      required_part("spec", kSpec), no_effect("status", "a cluster sets it"));
  Configuration configuration{.entries = {}, .pod = &pod};
  if (!kTable(at, configuration)) return std::nullopt;
  return std::move(configuration.entries.front());
}

bool is_component_called(Value document, std::string_view name) {
  if (kind_of(document) != kComponentKind) return false;
  const auto metadata = document.member("metadata");
  return metadata && text_of_member(metadata->node(), "name") == name;
}

/// Sets the parameters of the component that `entry` names, and removes other components from
/// `documents`.
void keep_component(std::vector<Value>& documents, const Named& entry, bundle::Document& arena,
                    bundle::Report& report) {
  bool is_found = false;
  std::erase_if(documents, [&](Value document) {
    if (kind_of(document) != kComponentKind) return false;
    if (is_component_called(document, entry.name)) {
      if (!is_found) set_parameters(document, entry.values, arena);
      is_found = true;
      return false;
    }
    document.warning("has no effect: the {} does not name this component", kConfigurationKind);
    return true;
  });
  if (is_found) return;
  Value(*entry.place, report)
      .problem_at(
          "componentName",
          "no document of this file is the {} \"{}\": write it into the file, behind a line "
          "of ---",
          kComponentKind, entry.name);
}

/// Removes the documents of `kinds`, and calls `act` for each of them.
template <typename Act>
void take_out(std::vector<Value>& documents, std::span<const std::string_view> kinds, Act act) {
  std::erase_if(documents, [&](Value document) {
    if (std::ranges::find(kinds, kind_of(document)) == kinds.end()) return false;
    act(document);
    return true;
  });
}

}  // namespace

void oam_application(std::vector<Value>& documents, bundle::Document& arena, Pod& out) {
  take_out(documents, std::span(&kKubeVelaKind, 1), [](Value document) {
    document.problem(
        "is an {} of KubeVela, whose components only a cluster with KubeVela knows: `vela dry-run` "
        "prints the documents of Kubernetes that it makes of it, and ocirun runs a Deployment, a "
        "StatefulSet or a Pod of them",
        kKubeVelaKind);
  });
  take_out(documents, kDefinitions, [](Value document) {
    document.warning("has no effect: it tells a cluster how to deal with other documents");
  });
  std::vector<Value> configurations;
  take_out(documents, std::span(&kConfigurationKind, 1),
           [&](Value document) { configurations.push_back(document); });
  if (configurations.empty()) {
    for (const Value document : documents)
      if (kind_of(document) == kComponentKind) set_parameters(document, {}, arena);
    return;
  }
  for (std::size_t i = 1; i < configurations.size(); ++i)
    configurations[i].problem("is a second {}: a file has one", kConfigurationKind);
  const Value configuration = configurations.front();
  if (const auto entry = read_configuration(configuration, out))
    keep_component(documents, *entry, arena, configuration.report());
}

}  // namespace ocirun::pods
