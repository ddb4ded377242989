// Applications.Core/containers, the first edition of the resource type (2023-10-01-preview).

#include "pods/documents/model/container_reader.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

/// The container, and the volumes that it declares.
struct CoreContainer {
  Container container;
  std::vector<Volume> volumes;
};

constexpr auto kCoreContainer = exact_fields<CoreContainer>(
    required_part("image",
                  [](Value at, CoreContainer& out) { return container_image(at, out.container); }),
    part("imagePullPolicy", of_container(&Container::pull_policy, image_pull_policy)),
    part("command", of_container(&Container::command, command_line)),
    part("args", of_container(&Container::args, strings)),
    part("env", of_container(&Container::env, for_edition<Edition::kCore>(radius_env))),
    part("ports", of_container(&Container::ports, for_edition<Edition::kCore>(radius_ports))),
    part("readinessProbe", of_container(&Container::readiness, core_probe)),
    part("livenessProbe", of_container(&Container::liveness, core_probe)),
    part("volumes",
         [](Value at, CoreContainer& out) {
           return core_volumes(at, out.volumes, out.container.mounts);
         }),
    part("workingDir", of_container(&Container::working_directory, container_path)),
    of_successor("volumeMounts", "write volumes, each with its mountPath"));

bool core_container(Value at, Pod& out) {
  CoreContainer declared;
  declared.container.place = &at.node();
  const bundle::Node& resource = *at.node().parent->parent;
  declared.container.name = text_of_member(resource, "name");
  bool good = kCoreContainer(at, declared);
  if (declared.container.name.contains('.')) {
    Value(resource, at.report())
        .problem_at(
            "name",
            "must have no dots, because the container has this name too, not {:?}: write \"-\"",
            declared.container.name);
    good = false;
  }
  out.containers.push_back(std::move(declared.container));
  out.volumes = std::move(declared.volumes);
  return good;
}

bool provisioning(Value at, Pod& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "internal") return true;
  if (word == "manual")
    return refuse_known_name(at, "with \"manual\" nobody but the user makes the container");
  at.problem("must be internal or manual, not {}", found(at));
  return false;
}

bool runtimes(Value at, Pod& out) {
  static constexpr auto kTable = exact_fields<Pod>(
      not_supported("kubernetes", "no manifest of Kubernetes is merged into the container"),
      no_effect("aci", "the container does not run as one of Azure's"));
  return kTable(at, out);
}

constexpr auto kCoreProperties = properties_fields<Edition::kCore>(
    required_part("container", core_container),
    not_supported("identity", "no cloud gives the container an identity"),
    part("resourceProvisioning", provisioning), no_effect("resources", kNoRadius),
    part("runtimes", runtimes), of_successor("volumes", "write volumes in the container"));

}  // namespace

bool core_properties(Value at, Pod& out) { return kCoreProperties(at, out); }

}  // namespace ocirun::pods
