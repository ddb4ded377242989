#include "pods/export/kubernetes_objects.hpp"

namespace ocirun::pods {
namespace {

/// A metric of the containers' CPUs or memory.
void add_resource_metric(Translation& translation, const ScalingMetric& metric, YamlPart& list) {
  YamlPart entry = list.add_object();
  entry.add("type", "Resource");
  YamlPart resource = entry.add_object("resource");
  resource.add("name", metric.kind);
  YamlPart target = resource.add_object("target");
  if (metric.target.utilization) {
    target.add("type", "Utilization");
    target.add("averageUtilization", *metric.target.utilization);
  } else if (metric.target.average) {
    target.add("type", "AverageValue");
    target.add("averageValue", fmt::format("{}", *metric.target.average));
  } else {
    translation.lose(metric.place, "target/value",
                     "must be averageUtilization or averageValue for the kind {}: all instances "
                     "together have no value",
                     metric.kind);
  }
}

/// A custom metric with an average is a metric of the pods. One with a single value is a metric of
/// something outside of the pods.
void add_custom_metric(const ScalingMetric& metric, YamlPart& list) {
  const bool is_average = metric.target.average.has_value();
  YamlPart entry = list.add_object();
  entry.add("type", is_average ? "Pods" : "External");
  YamlPart part = entry.add_object(is_average ? "pods" : "external");
  part.add_object("metric").add("name", metric.custom);
  YamlPart target = part.add_object("target");
  target.add("type", is_average ? "AverageValue" : "Value");
  target.add(
      is_average ? "averageValue" : "value",
      fmt::format("{}", is_average ? *metric.target.average : metric.target.value.value_or(0)));
}

/// Notes containers without a request: a utilization is a part of what the containers request.
void check_requests(Translation& translation, const ScalingMetric& metric) {
  if (!metric.target.utilization) return;
  for (const Container& container : translation.pod().containers) {
    const Resources& resources = container.resources;
    const bool is_cpu = metric.kind == "cpu";
    const bool has_request = is_cpu ? resources.requests.cpus || resources.limits.cpus
                                    : resources.requests.memory || resources.limits.memory;
    if (!has_request)
      translation.note(
          fmt::format("the container \"{}\" requests no {}: without a request there is "
                      "no utilization, and no automatic scaling",
                      container.name, metric.kind));
  }
}

}  // namespace

void add_autoscaler(const KubernetesPod& pod, const ObjectNames& names) {
  Translation& translation = pod.translation;
  const Pod& source = translation.pod();
  if (!source.scaling) return;
  const Scaling& scaling = *source.scaling;
  if (pod.kind == ExportedKind::kPod)
    return translation.lose(scaling.place, "", "a Pod does not scale: --kind Deployment does");
  YamlPart out = kubernetes_object(pod, names, "autoscaling/v2", "HorizontalPodAutoscaler");
  YamlPart spec = out.add_object("spec");
  YamlPart target = spec.add_object("scaleTargetRef");
  target.add("apiVersion", "apps/v1");
  target.add("kind", names.kind);
  target.add("name", translation.request().name);
  if (source.replicas) spec.add("minReplicas", source.replicas->count);
  const std::uint32_t least = source.replicas ? source.replicas->count : 1;
  if (!scaling.most)
    translation.lose(scaling.place, "maxReplicas", "is missing, an autoscaler needs it");
  else if (*scaling.most < least)
    translation.lose(scaling.place, "maxReplicas", "is {}, below the {} replicas", *scaling.most,
                     least);
  spec.add("maxReplicas", scaling.most.value_or(least));
  YamlPart metrics = spec.add_list("metrics");
  for (const ScalingMetric& metric : scaling.metrics) {
    if (metric.kind == "custom")
      add_custom_metric(metric, metrics);
    else
      add_resource_metric(translation, metric, metrics);
    check_requests(translation, metric);
  }
  translation.add_document(out);
}

}  // namespace ocirun::pods
