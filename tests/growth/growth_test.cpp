// Twice the document is about twice the work: no list of any document, of config.json, of a CDI
// specification or of an image's configuration costs its square, in comparisons or in memory.

#include <fcntl.h>

#include <fstream>

#include "bundle/config/config.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/commands.hpp"
#include "pods/documents/needs.hpp"
#include "pods/images/image_config.hpp"
#include "pods/prepare/complete.hpp"
#include "pods/prepare/devices/spec.hpp"
#include "pods/prepare/plan/bundle.hpp"
#include "pods/prepare/plan/expansion.hpp"
#include "pods/prepare/prepare.hpp"
#include "tests/growth/growth.hpp"
#include "tests/must.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// What `validate`, `run` and `plan` do with a document before they touch a disk.
void read_and_plan(const std::string& text) {
  Workload workload = read_workload("f", text);
  if (workload.problem_count != 0) return;
  needs_of(workload.pod);
  ignore(find_expansion_errors(workload.pod, {}, Missing::kEmpty));
  Given given;
  given.variables = {{"A", "b"}, {"NEW", "c"}};
  given.labels = {{"l", "v"}};
  const auto completed =
      complete(std::move(workload), std::move(given), {}, {}, Audience::kRunning);
  if (!completed) return;
  ignore(check_given(completed->given(), completed->workload()));
  for (const Container* container : all_containers(completed->pod())) {
    const auto expansion = expand_container(completed->pod(), *container, {}, Missing::kEmpty);
    if (!expansion) continue;
    BundlePlan plan;
    plan.launch.env = expansion->named.entries();
    plan.launch.args = expansion->args.value_or(std::vector<std::string>());
    plan.launch.account.additional_gids = container->extra_groups;
    plan.security = container->security;
    for (const Mount& mount : container->mounts)
      plan.bound.push_back(
          {.source = "/s", .destination = mount.path, .read_only = true, .recursive = true});
    ignore(config_text(plan));
  }
}

std::string full_service() {
  return R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "labels": {"app": "db"}},
     "spec": {"serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "replicas": 1,
       "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                 "resources": {"requests": {"storage": "1Gi"}}}}],
       "template": {"metadata": {"labels": {"app": "db"}},
         "spec": {"containers": [{"name": "db", "image": "db", "ports": [{"name": "sql", "containerPort": 5432}],
                   "env": [{"name": "V0", "value": "$(V0)$(V)x"}], "envFrom": [{"configMapRef": {"name": "m"}}],
                   "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "keys", "mountPath": "/keys"}]}],
                  "volumes": [{"name": "keys", "configMap": {"name": "m", "items": [{"key": "k", "path": "p"}]}}]}}}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"},
     "spec": {"type": "NodePort", "selector": {"app": "db"},
              "ports": [{"name": "sql", "port": 5432, "nodePort": 30000, "targetPort": 5432}]}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": "v"}}]})";
}

std::string full_component() {
  return R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "core.oam.dev/v1alpha2", "kind": "Component", "metadata": {"name": "c"},
     "spec": {"workload": {"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
                           "spec": {"containers": [{"name": "m", "image": "i", "env": [{"name": "A", "value": "b"}],
                             "resources": {"cpu": {"required": 1}, "memory": {"required": "1M"}}}]}},
              "parameters": [{"name": "p", "fieldPaths": ["spec.containers[0].env[0].value"]}]}},
    {"apiVersion": "core.oam.dev/v1alpha2", "kind": "ApplicationConfiguration", "metadata": {"name": "a"},
     "spec": {"components": [{"componentName": "c", "parameterValues": [{"name": "p", "value": "v"}]}]}}]})";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(twice_the_document_is_twice_the_work)

BOOST_AUTO_TEST_CASE(of_oam) { check_growth(full_oam(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_components_of_oam) { check_growth(full_component(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_app_container) { check_growth(full_appc(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_radius) { check_growth(full_radius(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_the_first_edition_of_radius) {
  check_growth(full_radius_core(), read_and_plan);
}
BOOST_AUTO_TEST_CASE(of_knative) { check_growth(full_knative(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_kubernetes) { check_growth(full_kubernetes(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_services_and_claims) { check_growth(full_service(), read_and_plan); }
BOOST_AUTO_TEST_CASE(of_config_maps_and_secrets) { check_growth(full_list(), read_and_plan); }

BOOST_AUTO_TEST_CASE(of_config_json) {
  const auto parse = [](const std::string& text) {
    const auto config = bundle::parse_config(text, HostPath("/b")).take();
    ignore(config);
  };
  check_growth(R"({"ociVersion": "1.3.0", "hostname": "h", "root": {"path": "rootfs"},
    "process": {"cwd": "/", "args": ["sh"], "env": ["A=b"],
      "user": {"uid": 0, "gid": 0, "additionalGids": [1]},
      "capabilities": {"bounding": ["CAP_KILL"], "ambient": ["CAP_KILL"]},
      "rlimits": [{"type": "RLIMIT_CORE", "soft": 1, "hard": 1}]},
    "mounts": [{"destination": "/p", "type": "tmpfs", "source": "t", "options": ["ro"],
                "uidMappings": [{"containerID": 0, "hostID": 0, "size": 1}],
                "gidMappings": [{"containerID": 0, "hostID": 0, "size": 1}]}],
    "hooks": {"createRuntime": [{"path": "/h", "args": ["h"], "env": ["A=b"]}]},
    "annotations": {"a": "b"},
    "linux": {"namespaces": [{"type": "mount"}, {"type": "user"}],
      "uidMappings": [{"containerID": 0, "hostID": 0, "size": 1}],
      "gidMappings": [{"containerID": 0, "hostID": 0, "size": 1}],
      "devices": [{"path": "/dev/d", "type": "c", "major": 1, "minor": 3}],
      "sysctl": {"net.a": "1"}, "maskedPaths": ["/m"], "readonlyPaths": ["/r"],
      "resources": {"devices": [{"allow": true, "type": "c", "major": 1, "minor": 3, "access": "r"}],
        "hugepageLimits": [{"pageSize": "2MB", "limit": 1}], "unified": {"memory.high": "1"},
        "blockIO": {"weightDevice": [{"major": 8, "minor": 0, "weight": 10}]},
        "network": {"priorities": [{"name": "eth0", "priority": 1}]},
        "rdma": {"mlx": {"hcaHandles": 1}}},
      "seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ERRNO",
                      "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}}})",
               parse);
}

BOOST_AUTO_TEST_CASE(of_a_cdi_specification) {
  check_growth(R"({"cdiVersion": "0.6.0", "kind": "vendor.com/gpu", "annotations": {"a": "b"},
    "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/null"}]}}],
    "containerEdits": {"env": ["A=b"], "mounts": [{"hostPath": "/a", "containerPath": "/b"}],
                       "hooks": [{"hookName": "createRuntime", "path": "/h", "args": ["h"]}]}})",
               [](const std::string& text) { ignore(read_cdi_spec("f", text)); });
}

BOOST_AUTO_TEST_CASE(of_a_file_of_variables) {
  Scratch scratch;
  Workload workload = read_workload("f", full_kubernetes());
  check_growth_of("--env-file", [&](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("NAME_{}=value\n", i);
    scratch.file("env", text);
    const std::vector<std::string> words{"--env-file", scratch / "env", "f"};
    Pod pod = workload.pod;
    Given given;
    given.variables = must(cli::read_variables(
        must(bundle::cli::parse(cli::kProgram, *cli::find_command("run"), words))));
    must(replace_parts(given, pod));
  });
}

BOOST_AUTO_TEST_CASE(of_mounts_over_an_image) {
  Scratch scratch;
  const linux::SafeDir root = must(linux::SafeDir::open_root(HostPath(scratch.path())));
  check_growth_of("volumeMounts", [&](std::size_t count) {
    Workload workload = read_workload("f", full_kubernetes());
    Container& container = workload.pod.containers.front();
    BundlePlan plan;
    container.mounts.clear();
    for (std::size_t i = 0; i < count; ++i) {
      container.mounts.push_back(
          {.volume = "v", .path = fmt::format("/m{}", i), .place = container.place});
      plan.bound.push_back({.source = "/", .destination = fmt::format("/m{}", i)});
    }
    must(check_mount_places(workload, container, plan, root));
  });
}

BOOST_AUTO_TEST_SUITE_END()
