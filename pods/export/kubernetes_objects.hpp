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

/// The names, labels and annotations of the objects. If the document has one set of labels and
/// annotations, the pods and their controller both get it. Losses: those that Kubernetes does not
/// accept; those of a controller that becomes a Pod, if the template has other values for their
/// keys.
ObjectNames object_names(KubernetesPod& pod);

/// An object with the name of the workload and its labels. `name`: another name for the object.
YamlPart kubernetes_object(const KubernetesPod& pod, const ObjectNames& names,
                           std::string_view version, std::string_view kind,
                           std::string_view name = "");

/// Each adds an object to the output, if the pod needs one.
void add_config_map(const KubernetesPod& pod, const ObjectNames& names);
void add_claims(const KubernetesPod& pod, const ObjectNames& names);
void add_service(const KubernetesPod& pod, const ObjectNames& names);
void add_autoscaler(const KubernetesPod& pod, const ObjectNames& names);

}  // namespace ocirun::pods
