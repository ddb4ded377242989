#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pods/documents/model/pod.hpp"
#include "pods/documents/source.hpp"

namespace ocirun::pods {

/// The workload in a file: its Pod, and the places of the Pod's parts.
struct Workload {
  std::string file;                // the name of the file in messages
  std::string text;                // of the file
  std::unique_ptr<Source> source;  // the values that the places in `pod` point to
  Pod pod;
  std::vector<std::string>
      problems;  // sentences with their places; the pod is complete only if there are none
  std::vector<std::string> warnings;
  std::vector<std::string> export_warnings;  // those that hold for `pod export` too
  std::vector<std::string> swarm_warnings;   // those that hold for `pod export --to swarm`
  std::size_t problem_count = 0;  // `problems` has the first bundle::Report::kMaxListed of them
  std::vector<std::string> unused_ignored;  // names of --ignore that no refused part has
  std::vector<Place> left_out;              // the parts that --ignore leaves out
  std::vector<Place> documents;  // of the file, with those of a list (kind: List) in its place

  /// "app.yaml:14:9: /spec/containers/0/image": a place, for a problem that is found later.
  std::string at(Place place) const;
  /// The sentence about a part that needs several machines, with its place.
  std::string at(const Elsewhere& part) const;
};

/// Reads a workload document: OAM, App Container, Knative, Radius or Kubernetes, in YAML or JSON.
/// Tells them apart by apiVersion and kind, acKind, or properties. Documents of the kinds ConfigMap
/// and Secret may stand beside the workload, and a workload of Kubernetes may have others too
/// (stands_beside()). For the names `ignored`, a warning takes the place of a refusal;
/// names that the format does not have are refused nevertheless.
Workload read_workload(std::string file, std::string_view text,
                       std::span<const std::string> ignored = {});

/// "OAM ContainerizedWorkload", …
std::string_view name_of(Kind kind);
/// name_of() the kind of the pod; for Kubernetes with the kind of the document: "Kubernetes
/// Deployment".
std::string shown_kind(const Pod& pod);

}  // namespace ocirun::pods
