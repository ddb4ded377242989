// What a container gets with its devices: the host's nodes, and edits put together.

#include "pods/prepare/devices/ready.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/pods/prepare/devices/spec_scene.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

DeviceNode node_at(std::string host_path, char type = 0, std::uint32_t major = 0,
                   std::uint32_t minor = 0) {
  DeviceNode node;
  node.path = "/dev/x";
  node.host_path = std::move(host_path);
  node.type = type;
  node.major = major;
  node.minor = minor;
  node.where = "f:1:2: /n";
  return node;
}

std::string identity(std::string_view edits) {
  const CdiSpec spec = read_good(device_file(edits));
  return must(identity_of({.spec = &spec, .device = &spec.devices[0]}));
}

Result<ReadyEdits> united(std::initializer_list<const CdiSpec*> specs,
                          NodeOrigin origin = NodeOrigin::kMade,
                          std::vector<std::string>* warnings = nullptr) {
  std::vector<FoundDevice> devices;
  for (const CdiSpec* spec : specs) devices.push_back({.spec = spec, .device = &spec->devices[0]});
  std::vector<std::string> unused;
  return ready_edits(devices, origin, warnings == nullptr ? unused : *warnings);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(edits_of_devices)

BOOST_AUTO_TEST_CASE(what_the_specification_leaves_out_comes_from_the_node_of_the_host) {
  const ReadyNode zero = must(ready_node(node_at("/dev/zero"), NodeOrigin::kMade));
  BOOST_TEST((zero.type == 'c' && zero.major == 1 && zero.minor == 5 && zero.mode == 0666U));
  BOOST_TEST((zero.path == "/dev/x" && zero.host_path == "/dev/zero" && zero.access == "rwm"));
  DeviceNode same = node_at("");
  same.path = "/dev/zero";
  BOOST_TEST(must(ready_node(same, NodeOrigin::kMade)).minor == 5U);
  // The specification says all: the host needs no node.
  const ReadyNode whole = must(ready_node(node_at("/dev/none", 'b', 8, 1), NodeOrigin::kMade));
  BOOST_TEST((whole.type == 'b' && whole.major == 8 && whole.minor == 1 && !whole.mode));
}

BOOST_AUTO_TEST_CASE(a_node_that_the_host_does_not_have_is_an_error_with_its_place) {
  const Scratch scratch;
  const auto error = [](const DeviceNode& node, NodeOrigin origin = NodeOrigin::kMade) {
    return must_fail(ready_node(node, origin));
  };
  BOOST_TEST(error(node_at("/dev/none")) ==
             "f:1:2: /n: the host has no device node /dev/none: no such file or directory");
  BOOST_TEST(error(node_at(scratch.file("a", ""))).ends_with("/a of the host is no device node"));
  BOOST_TEST(
      error(node_at("/dev/zero", 'b'))
          .ends_with("/dev/zero of the host is a character device, and the specification has "
                     "a block device"));
  BOOST_TEST(error(node_at("/dev/none", 'c', 1, 5), NodeOrigin::kBound)
                 .contains("the host has no device node /dev/none, and only root can make one"));
  BOOST_TEST(
      error(node_at("/dev/zero", 'c', 1, 3), NodeOrigin::kBound)
          .ends_with("/dev/zero of the host is the device 1:5, and the specification has 1:3"));
}

BOOST_AUTO_TEST_CASE(a_fifo_has_no_numbers) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkfifo((scratch / "f").c_str(), 0640) == 0);
  const ReadyNode fifo = must(ready_node(node_at(scratch / "f"), NodeOrigin::kBound));
  BOOST_TEST((fifo.type == 'p' && fifo.major == 0 && fifo.minor == 0));
  BOOST_TEST(must(ready_node(node_at("/none", 'p'), NodeOrigin::kBound)).type == 'p');
}

BOOST_AUTO_TEST_CASE(names_with_the_same_nodes_are_one_device) {
  const std::string one = identity(
      R"({"deviceNodes": [{"path": "/dev/a", "hostPath": "/dev/zero"}, {"path": "/dev/null"}]})");
  BOOST_TEST(one == "c1:3,c1:5");
  BOOST_TEST(identity(R"({"env": ["A=b"],
      "deviceNodes": [{"path": "/dev/null"}, {"path": "/dev/b", "type": "c", "major": 1, "minor": 5}]})") ==
             one);
  BOOST_TEST(identity(R"({"deviceNodes": [{"path": "/dev/null"}]})") != one);
  BOOST_TEST(identity(R"({"env": ["A=b"]})") == "vendor.com/gpu=gpu-0");
}

BOOST_AUTO_TEST_CASE(edits_of_a_file_come_once_and_first) {
  const CdiSpec a = read_good(device_file(
      R"({"env": ["A=1"], "additionalGids": [7], "hooks": [{"hookName": "poststop", "path": "/h"}],
          "mounts": [{"hostPath": "/l", "containerPath": "/l"}], "deviceNodes": [{"path": "/dev/zero"}]})",
      "1.1.0", R"("containerEdits": {"env": ["ALL=1"], "additionalGids": [7]},)"));
  const CdiSpec b = read_good(device_file(
      R"({"env": ["B=1"], "mounts": [{"hostPath": "/l", "containerPath": "/l"}],
          "hooks": [{"hookName": "poststop", "path": "/h"}], "deviceNodes": [{"path": "/dev/zero"}]})"));
  const ReadyEdits edits = must(united({&a, &a, &b}));
  BOOST_TEST((edits.env == std::vector<std::string>{"ALL=1", "A=1", "A=1", "B=1"}));
  BOOST_TEST((edits.gids.size() == 1 && edits.hooks.size() == 1 && edits.mounts.size() == 1 &&
              edits.nodes.size() == 1));
}

BOOST_AUTO_TEST_CASE(edits_that_exclude_each_other_are_an_error_that_names_the_device) {
  const auto conflict = [](std::string_view one, std::string_view other) {
    const CdiSpec a = read_good(device_file(one)), b = read_good(device_file(other));
    return must_fail(united({&a, &b}));
  };
  BOOST_TEST(conflict(R"({"deviceNodes": [{"path": "/dev/x", "hostPath": "/dev/zero"}]})",
                      R"({"deviceNodes": [{"path": "/dev/x", "hostPath": "/dev/null"}]})")
                 .contains("device vendor.com/gpu=gpu-0 of f.json: f.json:2:"));
  BOOST_TEST(conflict(R"({"mounts": [{"hostPath": "/a", "containerPath": "/l"}]})",
                      R"({"mounts": [{"hostPath": "/b", "containerPath": "/l"}]})")
                 .contains("another device of the container has another mount at /l"));
  BOOST_TEST(conflict(R"({"intelRdt": {"closID": "a"}})", R"({"intelRdt": {"closID": "b"}})")
                 .contains("another intelRdt"));
}

BOOST_AUTO_TEST_CASE(what_a_bound_node_cannot_have_is_a_warning) {
  std::vector<std::string> warnings;
  const CdiSpec other = read_good(device_file(
      R"({"deviceNodes": [{"path": "/dev/zero", "fileMode": 384, "uid": 0, "permissions": "r"}]})"));
  must(united({&other}, NodeOrigin::kBound, &warnings));
  BOOST_REQUIRE(warnings.size() == 1U);
  BOOST_TEST(warnings[0].contains(
      "fileMode, uid, permissions of the device node /dev/zero cannot be set"));
  warnings.clear();
  const CdiSpec same = read_good(device_file(
      R"({"deviceNodes": [{"path": "/dev/zero", "fileMode": 438, "permissions": "rw"}]})"));
  must(united({&same}, NodeOrigin::kBound, &warnings));
  BOOST_TEST(warnings.empty());
}

BOOST_AUTO_TEST_SUITE_END()
