#include "pods/documents/other_kinds.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "pods/documents/kubernetes/workload.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

/// A workload of Kubernetes that ocirun does not run.
struct OtherWorkload {
  std::string_view group, kind;
  std::string_view after = {};  // follows kAsPod
};
constexpr std::string_view kAsPod =
    "write the template of its pods as a Pod (apiVersion: v1, with a name in metadata)";
constexpr OtherWorkload kOtherWorkloads[] = {
    {"batch/", "Job", ": `ocirun pod run` ends with its exit status"},
    {"batch/", "CronJob", ", and let cron or a timer of systemd run `ocirun pod run`"},
    {"apps/", "DaemonSet"},
    {"apps/", "ReplicaSet"},
    {"v1", "ReplicationController"},
};

/// The version to write for a document of Kubernetes' own whose version is not read; "": there is
/// none.
std::string_view version_of_kind(std::string_view version, std::string_view kind) {
  constexpr std::string_view kCore = "v1", kApps = "apps/v1";
  static constexpr std::pair<std::string_view, std::string_view> kVersions[] = {
      {"Pod", kCore},
      {"Deployment", kApps},
      {"StatefulSet", kApps},
      {"ConfigMap", kCore},
      {"Secret", kCore},
      {"Service", kCore},
      {"PersistentVolumeClaim", kCore},
      {"HorizontalPodAutoscaler", "autoscaling/v2"},
      {"RuntimeClass", "node.k8s.io/v1"},
      {"ServiceAccount", kCore},
      {"Namespace", kCore}};
  const std::size_t slash = version.find('/');
  const std::string_view group = version.substr(0, slash == std::string_view::npos ? 0 : slash);
  for (const std::string_view own : {"", "apps", "extensions", "autoscaling", "node.k8s.io"})
    if (group == own)
      for (const auto& [known, to_write] : kVersions)
        if (known == kind) return to_write;
  return "";
}

}  // namespace

void refuse_kind(bundle::Value document, BesideWorkload beside) {
  const std::string_view kind = text_of_member(document.node(), "kind");
  const std::string_view version = text_of_member(document.node(), "apiVersion");
  if (version.empty() || kind.empty())
    return document.problem("has an unknown kind: {}", kWorkloadKinds);
  const bool is_beside = beside == BesideWorkload::kYes;
  // In a file without a workload, leaving the document out would not help.
  const std::string hint = is_beside ? fmt::format(" (--ignore {} leaves it out)", kind) : "";
  if (stands_beside(document.node()))
    return document.problem_at("kind", "{} is read beside a workload of Kubernetes only{}", kind,
                               hint);
  if (const std::string_view known = version_of_kind(version, kind); !known.empty())
    return document.problem_at("apiVersion", "unknown version {} of the kind {}: write {}{}",
                               found(*document.member("apiVersion")), kind, known, hint);
  const auto* other = std::ranges::find(kOtherWorkloads, kind, &OtherWorkload::kind);
  const bool is_workload = other != std::end(kOtherWorkloads) && version.starts_with(other->group);
  const std::string_view instead = is_workload ? kAsPod
                                   : is_beside ? "nothing here does what it asks for"
                                               : kWorkloadKinds;
  document.problem_at("kind", "the kind {} is not supported: {}{}{}", kind, instead,
                      is_workload ? other->after : "", hint);
}

}  // namespace ocirun::pods
