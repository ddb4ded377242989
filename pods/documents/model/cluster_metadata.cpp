#include <algorithm>

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

bool is_set_by_cluster(std::string_view name) {
  static constexpr std::string_view kByTheCluster[] = {
      "uid",           "resourceVersion",   "generation",
      "selfLink",      "creationTimestamp", "deletionTimestamp",
      "finalizers",    "ownerReferences",   "deletionGracePeriodSeconds",
      "managedFields",
  };
  return std::ranges::find(kByTheCluster, name) != std::end(kByTheCluster);
}

namespace {

/// Refuses generateName where the object has no other name: --ignore would not give it one. The
/// metadata of a template need no name.
void refuse_generated_name(Value member) {
  const bundle::Node* metadata = member.node().parent;
  const bundle::Node* name = metadata->find("name");
  const bool is_of_template = metadata->parent != nullptr && metadata->parent->key == "template";
  if (is_of_template || (name != nullptr && name->kind != bundle::Node::Kind::kNull))
    member.warning("has no effect: the object has a name");
  else
    member.problem("is not supported: write name");
}

}  // namespace

bool warn_of_cluster_name(Value member) {
  const std::string_view name = member.key();
  const bool is_by_cluster = is_set_by_cluster(name);
  if (name == "generateName") {
    if (!member.is_null() && !is_empty(member.node())) refuse_generated_name(member);
  } else if (!is_by_cluster && name != "namespace") {
    return false;
  } else if (!member.is_null() && !is_empty(member.node())) {
    member.warning("has no effect: {}",
                   is_by_cluster ? "a cluster sets it" : "there are no namespaces of a cluster");
  }
  return true;
}

}  // namespace ocirun::pods
