#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pods/documents/source.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// A file that was read: the Pod of its workload, and the places of its parts.
struct Workload {
  std::string file;                // how messages call the file
  std::unique_ptr<Source> source;  // the values that the places in `pod` point to
  Pod pod;
  std::vector<std::string> problems;  // sentences with their places; the pod is whole only without
  std::vector<std::string> warnings;
  std::size_t problem_count = 0;  // `problems` has the first bundle::Report::kMaxListed of them
  std::vector<std::string> unused_ignored;  // names of --ignore that nothing refused has

  /// "app.yaml:14:9: /spec/containers/0/image": the place of a problem that is found later.
  std::string at(Place place) const;
  /// The sentence of a part that means something only elsewhere, with its place.
  std::string at(const Elsewhere& part) const;
};

/// Reads a workload document: OAM, App Container, Knative or Radius, in YAML or JSON. The document
/// itself says which of them: by apiVersion and kind, acKind, or properties. Documents of the kinds
/// ConfigMap and Secret may stand beside it. `ignored`: names whose refusal is to be a warning;
/// names that the format does not have are refused all the same.
Workload read_workload(std::string file, std::string_view text,
                       std::span<const std::string> ignored = {});

/// "OAM ContainerizedWorkload", …
std::string_view name_of(Kind kind);

}  // namespace ocirun::pods
