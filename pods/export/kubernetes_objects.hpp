#pragma once

#include <map>
#include <string>
#include <string_view>

#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {

/// The label that selects the pods of one export.
inline constexpr std::string_view kInstanceLabel = "app.kubernetes.io/instance";

/// The names that the objects of one export have.
struct ObjectNames {
  std::string_view kind;                        // "Deployment", …
  Metadata own;                                 // of the Deployment, StatefulSet or Pod
  Metadata of_pods;                             // of the pods of a Deployment or StatefulSet
  std::map<std::string, std::string> selector;  // the labels that select the pods
};

/// Labels and annotations that Kubernetes accepts. A document with one set of them gives it to the
/// pods and to what keeps them. Losses: those that Kubernetes does not accept; those of a
/// controller that becomes a Pod, which has others of the same keys.
ObjectNames object_names(KubernetesPod& pod);

/// An object with the name of the workload and its labels. `name`: another name.
YamlPart kubernetes_object(const KubernetesPod& pod, const ObjectNames& names,
                           std::string_view version, std::string_view kind,
                           std::string_view name = "");

/// Each adds an object to the output, if the pod needs one.
void add_config_map(const KubernetesPod& pod, const ObjectNames& names);
void add_claims(const KubernetesPod& pod, const ObjectNames& names);
void add_service(const KubernetesPod& pod, const ObjectNames& names);
void add_autoscaler(const KubernetesPod& pod, const ObjectNames& names);

}  // namespace ocirun::pods
