// Which CDI devices the containers of a pod get.

#include "pods/prepare/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// The devices 0, 1 and 2 of the kind vendor.com/gpu, with a second name for each, and "all".
constexpr const char* kThreeGpus = R"({"cdiVersion": "0.5.0", "kind": "vendor.com/gpu", "devices": [
  {"name": "all", "containerEdits": {"env": ["ALL=1"]}},
  {"name": "GPU-a", "containerEdits": {"deviceNodes": [{"path": "/dev/g0", "type": "c", "major": 250, "minor": 0}]}},
  {"name": "GPU-b", "containerEdits": {"deviceNodes": [{"path": "/dev/g1", "type": "c", "major": 250, "minor": 1}]}},
  {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/g0", "type": "c", "major": 250}]}},
  {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/g1", "type": "c", "major": 250, "minor": 1}]}},
  {"name": "10", "containerEdits": {"deviceNodes": [{"path": "/dev/g2", "type": "c", "major": 250, "minor": 2}]}}]})";

std::string container_text(std::string_view name, std::string_view more) {
  return fmt::format(
      "  - {{name: {}, image: i, resources: {{cpu: {{required: 1}}, memory: {{required: "
      "1M}}{}}}}}\n",
      name, more);
}

struct DevicesScene {
  Scratch scratch;
  Given given;
  Workload workload;
  DevicesScene() {
    scratch.file("gpu.json", kThreeGpus);
    given.cdi = {.paths = {scratch.path()}, .may_be_absent = false};
  }
  void read(std::string_view containers) {
    workload = read_workload(
        "f",
        "apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: {name: a}\n"
        "spec:\n  containers:\n" +
            std::string(containers));
    BOOST_REQUIRE_MESSAGE(workload.problems.empty(),
                          fmt::format("{}", fmt::join(workload.problems, "\n")));
  }
  void read_gpus(std::string_view count) {
    read(container_text("app", fmt::format(", gpu: {{required: {}}}", count)));
  }
  void give(std::string_view device) { given.devices.push_back(must(parse_device(device))); }
  Result<PodDevices> prepare(const std::string& locks = "") const {
    return prepare_devices(workload, given, locks);
  }
  /// The names of the devices of the container `index`.
  std::string names(std::size_t index = 0) const { return names(must(prepare()), index); }
  std::string names(const PodDevices& devices, std::size_t index = 0) const {
    const auto own = devices.of.find(&workload.pod.containers.at(index));
    return own == devices.of.end() ? "" : fmt::format("{}", fmt::join(own->second.names, " "));
  }
  std::string missing(const std::string& locks = "") const { return must_fail(prepare(locks)); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(devices_of_a_pod, DevicesScene)

BOOST_AUTO_TEST_CASE(a_pod_without_devices_reads_no_specification) {
  read(container_text("app", ""));
  given.cdi.paths = {scratch / "absent"};
  BOOST_TEST(must(prepare()).of.empty());
}

BOOST_AUTO_TEST_CASE(a_number_of_gpus_leaves_out_second_names_and_all) {
  read_gpus("2");
  BOOST_TEST(names() == "vendor.com/gpu=0 vendor.com/gpu=1");
  read_gpus("3");
  BOOST_TEST(names() == "vendor.com/gpu=0 vendor.com/gpu=1 vendor.com/gpu=10");
  BOOST_TEST(must(prepare()).of.begin()->second.edits.nodes.size() == 3U);
  read_gpus("4");
  BOOST_TEST(
      missing() ==
      "f:6:38: /spec/containers/0/resources: 4 of the devices vendor.com/gpu are needed, and "
      "the host has 3");
}

BOOST_AUTO_TEST_CASE(each_container_has_its_own_devices) {
  read(container_text("app", ", gpu: {required: 2}") +
       container_text("side", ", gpu: {required: 1}"));
  BOOST_TEST(names(0) == "vendor.com/gpu=0 vendor.com/gpu=1");
  BOOST_TEST(names(1) == "vendor.com/gpu=10");
}

BOOST_AUTO_TEST_CASE(an_init_container_shares_devices_with_the_others) {
  read_gpus("3");
  workload.pod.init_containers = workload.pod.containers;
  BOOST_TEST(names() == "vendor.com/gpu=0 vendor.com/gpu=1 vendor.com/gpu=10");
}

BOOST_AUTO_TEST_CASE(devices_of_the_command_line_are_for_all_or_one_container_and_count) {
  read(container_text("app", ", gpu: {required: 2}") + container_text("side", ""));
  give("app:vendor.com/gpu=1");
  BOOST_TEST((names(0) == "vendor.com/gpu=1 vendor.com/gpu=0" && names(1).empty()));
  give("vendor.com/gpu=all");
  BOOST_TEST(names(1) == "vendor.com/gpu=all");
  give("vendor.com/gpu=7");
  BOOST_TEST(missing().starts_with("--device: vendor.com/gpu has no device \"7\""));
}

BOOST_AUTO_TEST_CASE(two_names_of_one_device_are_one_device) {
  read_gpus("2");
  give("vendor.com/gpu=GPU-a");
  give("vendor.com/gpu=0");
  BOOST_TEST(names() == "vendor.com/gpu=GPU-a vendor.com/gpu=1");
}

BOOST_AUTO_TEST_CASE(devices_by_number_belong_to_one_pod) {
  read_gpus("2");
  const std::string locks = scratch / "locks";
  const PodDevices first = must(prepare(locks));
  BOOST_TEST(first.locks.size() == 2U);
  BOOST_TEST(missing(locks).ends_with(
      "2 of the devices vendor.com/gpu are needed, and the host has 3, of which other pods have 2 "
      "(`ocirun pod status` lists pods)"));
  BOOST_TEST(names() == "vendor.com/gpu=0 vendor.com/gpu=1");  // a plan takes no lock
  read_gpus("1");
  BOOST_TEST(names(must(prepare(locks))) == "vendor.com/gpu=10");
  read(container_text("app", ""));
  give("vendor.com/gpu=GPU-a");  // that the first pod has: named devices are shared
  BOOST_TEST(names(must(prepare(locks))) == "vendor.com/gpu=GPU-a");
}

BOOST_AUTO_TEST_CASE(the_kind_of_gpus_is_the_only_one_or_that_of_the_command_line) {
  read_gpus("1");
  scratch.file("other.json", R"({"cdiVersion": "0.5.0", "kind": "other.com/gpu", "devices": [
    {"name": "x", "containerEdits": {"env": ["X=1"]}}]})");
  BOOST_TEST(
      missing().ends_with("the host has several kinds (other.com/gpu, vendor.com/gpu): --device "
                          "VENDOR/gpu=NAME chooses one"));
  give("other.com/gpu=x");
  BOOST_TEST(names() == "other.com/gpu=x");
  read_gpus("2");
  BOOST_TEST(
      missing().ends_with("1 of the devices other.com/gpu is needed, and the host has 1, of which "
                          "--device names 1"));
}

BOOST_AUTO_TEST_CASE(a_host_without_gpus_is_an_error) {
  read_gpus("1");
  given.cdi = {.paths = {scratch / "absent"}, .may_be_absent = true};
  BOOST_TEST(missing().contains("no CDI specification in " + scratch / "absent"));
}

BOOST_AUTO_TEST_CASE(an_extended_resource_is_devices_unless_the_option_gives_it) {
  scratch.file("s.json", R"({"cdiVersion": "0.6.0", "kind": "ext.com/v1.Sensor", "devices": [
    {"name": "x", "containerEdits": {"env": ["X=1"]}}, {"name": "y", "containerEdits": {"env": ["Y=1"]}}]})");
  read(container_text("app", ", extended: [{name: ext.com/v1.Sensor, required: \"2\"}]"));
  BOOST_TEST(names() == "ext.com/v1.Sensor=x ext.com/v1.Sensor=y");
  must(check_given(given, workload));
  given.cdi.paths.clear();
  BOOST_TEST(
      must_fail(check_given(given, workload)).contains("--extended ext.com/v1.Sensor=2, or a CDI"));
  given.extended["ext.com/v1.Sensor"] = "2";
  BOOST_TEST(names() == "");
}

BOOST_AUTO_TEST_CASE(a_device_that_the_host_lacks_is_not_given_out) {
  scratch.file("gpu.json", R"({"cdiVersion": "0.5.0", "kind": "vendor.com/gpu", "devices": [
    {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/none"}]}},
    {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/zero"}]}}]})");
  read_gpus("1");
  BOOST_TEST(names() == "vendor.com/gpu=1");
  read_gpus("2");
  BOOST_TEST(missing().contains("the host has 1; " + scratch / "gpu.json"));
  BOOST_TEST(missing().contains("the host has no device node /dev/none"));
}

BOOST_AUTO_TEST_CASE(a_broken_file_of_another_vendor_is_a_warning) {
  scratch.file("z.yaml", "kind: [");
  read_gpus("1");
  const PodDevices devices = must(prepare());
  BOOST_REQUIRE(devices.warnings.size() == 1U);
  BOOST_TEST(devices.warnings[0].starts_with(
      "a CDI specification that this pod does not need is left out: " + scratch / "z.yaml"));
}

BOOST_AUTO_TEST_SUITE_END()
