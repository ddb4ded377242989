// CDI specifications: every member is read, and every fault is told with its place.

#include "pods/prepare/devices/spec.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/pods/prepare/devices/spec_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr const char* kSmallest = R"({"env": ["A=b"]})";

std::string faults_of_node(const std::string& node, std::string_view version = "1.1.0") {
  return faults(device_file("{\"deviceNodes\": [" + node + "]}", version));
}
std::string faults_of_mount(const std::string& mount) {
  return faults(device_file("{\"mounts\": [" + mount + "]}"));
}
std::string faults_of_hook(const std::string& hook) {
  return faults(device_file("{\"hooks\": [" + hook + "]}"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cdi_specification)

BOOST_AUTO_TEST_CASE(every_member_is_read) {
  const CdiSpec spec = read_good(device_file(R"({
    "env": ["A=b=c", "E="],
    "deviceNodes": [{"path": "/dev//g0", "hostPath": "/dev/zero", "type": "u", "major": 1, "minor": 5,
                     "fileMode": 384, "permissions": "wr", "uid": 7, "gid": 8}, {"path": "/dev/n"}],
    "mounts": [{"hostPath": "/lib/a", "containerPath": "/lib/./a", "options": ["ro", "bind"]},
               {"hostPath": "/lib/b", "containerPath": "/lib/b"},
               {"hostPath": "tmpfs", "containerPath": "/t", "type": "tmpfs", "options": ["mode=755"]}],
    "hooks": [{"hookName": "poststop", "path": "/bin/h", "args": ["h", "x"], "env": ["A=b"], "timeout": 3}],
    "additionalGids": [0, 44],
    "intelRdt": {"closID": "c", "l3CacheSchema": "L3:0=f", "memBwSchema": "MB:0=10", "schemata": ["L2:0=f"],
                 "enableMonitoring": true}})",
                                             "v1.1.0",
                                             R"("annotations": {"a": "b"},
    "containerEdits": {"env": ["ALL=1"], "netDevices": []},)"));
  BOOST_TEST((spec.kind == "vendor.com/gpu" && spec.devices.size() == 1));
  BOOST_TEST((spec.edits.env == std::vector<std::string>{"ALL=1"}));
  const DeviceEdits& edits = spec.devices[0].edits;
  BOOST_TEST((edits.env == std::vector<std::string>{"A=b=c", "E="}));
  BOOST_REQUIRE(edits.nodes.size() == 2U);
  const DeviceNode& node = edits.nodes[0];
  BOOST_TEST((node.path == "/dev/g0" && node.host_path == "/dev/zero" && node.type == 'c'));
  BOOST_TEST((node.major == 1 && node.minor == 5 && node.mode == 0600U && node.access == "rw"));
  BOOST_TEST((node.uid->value() == 7 && node.gid->value() == 8));
  BOOST_TEST(edits.nodes[1].where == "f.json:6:81: /devices/0/containerEdits/deviceNodes/1");
  BOOST_TEST((edits.nodes[1].type == 0 && edits.nodes[1].access == "rwm" && !edits.nodes[1].mode));
  BOOST_REQUIRE(edits.mounts.size() == 3U);
  BOOST_TEST((edits.mounts[0].type == "bind" && edits.mounts[0].destination == "/lib/a" &&
              edits.mounts[0].options == std::vector<std::string>{"ro", "bind"}));
  BOOST_TEST((edits.mounts[1].type == "bind" &&
              edits.mounts[1].options == std::vector<std::string>{"rbind"}));
  BOOST_TEST((edits.mounts[2].type == "tmpfs" && edits.mounts[2].source == "tmpfs" &&
              edits.mounts[2].options == std::vector<std::string>{"mode=755"}));
  BOOST_REQUIRE(edits.hooks.size() == 1U);
  BOOST_TEST((edits.hooks[0].name == "poststop" && edits.hooks[0].path == "/bin/h" &&
              edits.hooks[0].args.size() == 2 && edits.hooks[0].env.size() == 1 &&
              edits.hooks[0].timeout == 3));
  BOOST_TEST((edits.gids == std::vector<Gid>{must(Gid::make(44))}));  // 0 has no effect
  BOOST_TEST((edits.rdt->clos_id == "c" && edits.rdt->l3_cache_schema == "L3:0=f" &&
              edits.rdt->mem_bw_schema == "MB:0=10" && edits.rdt->schemata.size() == 1 &&
              edits.rdt->enable_monitoring));
}

BOOST_AUTO_TEST_CASE(yaml_is_read_and_its_faults_have_lines) {
  BOOST_TEST(read_good("---\ncdiVersion: 0.5.0\nkind: vendor.com/gpu\ndevices:\n- name: \"0\"\n"
                       "  containerEdits:\n    deviceNodes: [{path: /dev/a, hostPath: /dev/b}]\n")
                 .devices[0]
                 .edits.nodes[0]
                 .where == "f.json:7:19: /devices/0/containerEdits/deviceNodes/0");
  BOOST_TEST(faults("cdiVersion: 0.5.0\nkind: vendor.com/gpu\ndevices:\n- name: a\n"
                    "  containerEdits:\n    deviceNodes: [{path: /dev/a, fileMode: 0666}]\n")
                 .starts_with("f.json:6:44: /devices/0/containerEdits/deviceNodes/0/fileMode: must "
                              "be written as a decimal number, such as 438"));
  BOOST_TEST(faults("{}\n---\n{}\n").contains("must have one document, not 2"));
  BOOST_TEST(faults("a: &x b\n").contains("f.json:1:"));
  BOOST_TEST(faults("") != "");
}

BOOST_AUTO_TEST_CASE(each_version_has_its_members) {
  for (const char* version :
       {"0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"})
    BOOST_TEST(faults(device_file(kSmallest, version)) == "");
  BOOST_TEST(faults(device_file(kSmallest, "1.2.0"))
                 .contains("/cdiVersion: must be one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, "
                           "1.0.0, 1.1.0, not \"1.2.0\""));
  const struct {
    const char *edits, *older, *since, *words;
  } kRows[] = {
      {R"({"mounts": [{"hostPath": "t", "containerPath": "/t", "type": "tmpfs"}]})", "0.3.0",
       "0.4.0",
       "/devices/0/containerEdits/mounts/0/type: type needs cdiVersion 0.4.0 or newer, and the "
       "file "
       "has 0.3.0"},
      {R"({"deviceNodes": [{"path": "/dev/a", "hostPath": "/dev/b"}]})", "0.4.0", "0.5.0",
       "hostPath needs cdiVersion 0.5.0 or newer"},
      {R"({"additionalGids": [4]})", "0.6.0", "0.7.0", "additionalGids needs cdiVersion 0.7.0"},
      {R"({"additionalGIDs": [4]})", "0.6.0", "0.7.0", "additionalGIDs needs cdiVersion 0.7.0"},
      {R"({"intelRdt": {"closID": "a"}})", "0.6.0", "0.7.0", "intelRdt needs cdiVersion 0.7.0"},
      {R"({"intelRdt": {"schemata": ["L2:0=f"]}})", "1.0.0", "1.1.0", "schemata needs"},
      {R"({"intelRdt": {"enableMonitoring": true}})", "1.0.0", "1.1.0", "enableMonitoring needs"},
      {R"({"intelRdt": {"enableCMT": true}})", "1.1.0", "1.0.0",
       "enableCMT is only for cdiVersion 1.0.0 and older, and the file has 1.1.0"},
  };
  for (const auto& row : kRows) {
    BOOST_TEST(faults(device_file(row.edits, row.older)).contains(row.words));
    BOOST_TEST(faults(device_file(row.edits, row.since)) == "");
    const std::string common = fmt::format("\"containerEdits\": {},", row.edits);
    BOOST_TEST(faults(device_file(kSmallest, row.older, common)) != "");
    BOOST_TEST(faults(device_file(kSmallest, row.since, common)) == "");
  }
  BOOST_TEST(faults(device_file(kSmallest, "0.5.0", R"("annotations": {"a": "b"},)"))
                 .contains("annotations needs cdiVersion 0.6.0"));
  const auto renamed = [](std::string_view from, std::string_view to, std::string_view version) {
    std::string text = device_file(kSmallest, version);
    return faults(text.replace(text.find(from), from.size(), to));
  };
  BOOST_TEST(renamed("gpu-0", "0", "0.4.0").contains("a digit at the beginning of a name needs"));
  BOOST_TEST(renamed("gpu-0", "0", "0.5.0") == "");
  BOOST_TEST(renamed("com/gpu", "com/g.u", "0.5.0").contains("a \".\" in a class needs"));
  BOOST_TEST(renamed("com/gpu", "com/g.u", "0.6.0") == "");
}

BOOST_AUTO_TEST_CASE(faults_are_told_with_their_places) {
  BOOST_TEST(faults("[]").contains("must be an object"));
  BOOST_TEST(faults("{}").contains("cdiVersion: is missing"));
  BOOST_TEST(
      faults(device_file(kSmallest, "1.1.0", "\"Device\": 1,")).contains("/Device: unknown name"));
  BOOST_TEST(
      faults(device_file("{\"envs\": []}")).contains("/envs: unknown name (did you mean env?)"));
  BOOST_TEST(faults(device_file("{}")).contains("/containerEdits: must not be empty"));
  BOOST_TEST(faults(device_file("{\"env\": []}")).contains("/containerEdits: must not be empty"));
  BOOST_TEST(faults(device_file("{\"env\": [\"=b\"]}")).contains("/env/0: "));
  BOOST_TEST(faults(device_file("{\"env\": [\"A\\u0000=b\"]}")) != "");
  BOOST_TEST(faults_of_node(R"({"path": "dev/a"})").contains("/path: must be an absolute path"));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/../a"})").contains("must not contain \"..\""));
  BOOST_TEST(faults_of_node(R"({"path": "/"})").contains("below the root"));
  BOOST_TEST(
      faults_of_node(R"({"path": "/dev/a", "type": "x"})").contains("type of a device node"));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "major": 4096})").contains("/major: "));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "major": -1})").contains("/major: "));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "minor": 1})").contains("/major: is missing"));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "type": "p", "major": 1})").contains("a fifo"));
  BOOST_TEST(
      faults_of_node(R"({"path": "/dev/a", "permissions": "rx"})").contains("/permissions: "));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "permissions": "none"})") == "");
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "fileMode": 2048})").contains("permission bits"));
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "fileMode": 8630})") == "");  // S_IFCHR | 0666
  BOOST_TEST(faults_of_node(R"({"path": "/dev/a", "uid": 4294967295})").contains("/uid: "));
  BOOST_TEST(faults_of_mount(R"({"hostPath": "a", "containerPath": "/a"})")
                 .contains("/hostPath: must be an"));
  BOOST_TEST(
      faults_of_mount(R"({"hostPath": "/a", "containerPath": "a"})").contains("/containerPath: "));
  BOOST_TEST(faults_of_mount(R"({"hostPath": "/a"})").contains("/containerPath: is missing"));
  BOOST_TEST(faults_of_hook(R"({"hookName": "prestrat", "path": "/a"})")
                 .contains("did you mean prestart"));
  BOOST_TEST(faults_of_hook(R"({"hookName": "poststop", "path": "a"})")
                 .contains("/path: must be an absolute"));
  BOOST_TEST(faults_of_hook(R"({"hookName": "poststop", "path": "/a", "timeout": 0})")
                 .contains("/timeout: "));
  BOOST_TEST(faults(device_file(R"({"netDevices": [{"hostInterfaceName": "a", "name": "b"}]})"))
                 .contains("/netDevices: netDevices are not supported"));
  std::string two = device_file(kSmallest);
  two.insert(two.rfind(']'), R"(, {"name": "gpu-0", "containerEdits": {"env": ["A=b"]}})");
  BOOST_TEST(faults(two).contains("\"gpu-0\" is given twice"));
}

BOOST_AUTO_TEST_CASE(a_broken_file_of_a_known_kind_says_its_kind) {
  const auto broken = read_cdi_spec("f", device_file("{}"));
  BOOST_TEST((!broken && broken.error().kind == "vendor.com/gpu" && broken.error().file == "f"));
  BOOST_TEST(read_cdi_spec("f", "{").error().kind == "");
}

BOOST_AUTO_TEST_SUITE_END()
