#include <sys/personality.h>

#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(linux_section)

BOOST_AUTO_TEST_CASE(devices_arrive) {  // L-20 … L-24
  const Config config = config_of(R"({"linux": {"devices": [
    {"type": "c", "path": "/dev/fuse", "major": 10, "minor": 229, "fileMode": 438, "uid": 1, "gid": 2},
    {"type": "u", "path": "/srv/u", "major": 1, "minor": 3}, {"type": "p", "path": "/dev/fifo"},
    {"type": "b", "path": "/dev/sda", "major": 8, "minor": 0, "fileMode": 24992}]}})");
  BOOST_TEST_REQUIRE(config.devices.size() == 4U);
  const auto& fuse = config.devices[0];
  BOOST_TEST((fuse.kind == linux::Device::Kind::kCharacter));
  BOOST_TEST(fuse.path.string() == "/dev/fuse");
  BOOST_TEST(fuse.major == 10);
  BOOST_TEST(fuse.minor == 229);
  BOOST_TEST(*fuse.mode == 0666U);
  BOOST_TEST(fuse.gid.value() == 2U);
  BOOST_TEST((config.devices[1].kind == linux::Device::Kind::kCharacter));
  BOOST_TEST(!config.devices[1].mode.has_value());
  BOOST_TEST((config.devices[2].kind == linux::Device::Kind::kFifo));
  BOOST_TEST(*config.devices[3].mode == 0640U);  // 0060640: st_mode of a block device
}

BOOST_AUTO_TEST_CASE(mistakes_in_devices) {  // L-20 … L-23
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"devices": [{"type": "x", "path": "/dev/a", "major": 1, "minor": 1}]}})",
       "/linux/devices/0/type", "unknown device type \"x\""},
      {R"({"linux": {"devices": [{"type": "c", "major": 1, "minor": 1}]}})",
       "/linux/devices/0/path", "is missing"},
      {R"({"linux": {"devices": [{"type": "c", "path": "dev/a", "major": 1, "minor": 1}]}})",
       "/linux/devices/0/path", "must be an absolute path"},
      {R"({"linux": {"devices": [{"type": "c", "path": "/dev/a", "minor": 1}]}})",
       "/linux/devices/0/major", "is missing, it is required unless type is \"p\""},
      {R"({"linux": {"devices": [{"type": "b", "path": "/dev/a", "major": 1}]}})",
       "/linux/devices/0/minor", "is missing"},
      {R"({"linux": {"devices": [{"type": "b", "path": "/dev/a", "major": -1, "minor": 1}]}})",
       "/linux/devices/0/major", "from 0 to 4095"},
      {R"({"linux": {"devices": [{"type": "p", "path": "/dev/a", "fileMode": 512}]}})",
       "/linux/devices/0/fileMode", "from 0 to 511 (octal 0777), not 512"},
      {R"({"linux": {"devices": [{"type": "p", "path": "/dev/a", "uid": 4294967295}]}})",
       "/linux/devices/0/uid", "from 0 to 4294967294"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(the_same_device_twice_is_warned_about) {  // L-26
  const Parsed parsed = parse_patched(R"({"linux": {"devices": [
    {"type": "c", "path": "/dev/a", "major": 1, "minor": 3},
    {"type": "c", "path": "/dev/b", "major": 1, "minor": 3},
    {"type": "b", "path": "/dev/c", "major": 1, "minor": 3}]}})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings[0] == "/linux/devices/1: the same device as /linux/devices/0");
}

BOOST_AUTO_TEST_CASE(network_devices) {  // L-29
  const Config config = config_of(
      R"({"linux": {"netDevices": {"eth1": {"name": "lan%d"}, "ens4": {}, "a": {"name": ""}}}})");
  BOOST_TEST_REQUIRE(config.net_devices.size() == 3U);
  BOOST_TEST(config.net_devices[0].host_name == "eth1");
  BOOST_TEST(config.net_devices[0].container_name == "lan%d");
  BOOST_TEST(config.net_devices[1].container_name == "ens4");
  BOOST_TEST(config.net_devices[2].container_name == "a");
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"namespaces": [{"type": "uts"}, {"type": "mount"}], "netDevices": {"a": {}}}})",
       "/linux/netDevices", "needs a network namespace"},
      {R"({"linux": {"netDevices": {"0123456789abcdef": {}}}})",
       "/linux/netDevices/0123456789abcdef", "is no name of a network device"},
      {R"({"linux": {"netDevices": {"a%d": {}}}})", "/linux/netDevices/a%d", "is no name"},
      {R"({"linux": {"netDevices": {"a": {"name": "b:1"}}}})", "/linux/netDevices/a/name",
       "\"b:1\" is no name for a network device"},
      {R"({"linux": {"netDevices": {"a": {"name": ".."}}}})", "/linux/netDevices/a/name",
       "is no name"},
      {R"({"linux": {"netDevices": {"a": {"name": "x%d%d"}}}})", "/linux/netDevices/a/name",
       "is no name"},
      {R"({"linux": {"netDevices": {"a": {"name": "x"}, "b": {"name": "x"}}}})",
       "/linux/netDevices/b", "would get the name \"x\", which \"a\" gets already"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(propagation_of_the_root) {  // L-30
  const auto propagation = [](const char* word) {
    const Config config =
        config_of(fmt::format(R"({{"linux": {{"rootfsPropagation": "{}"}}}})", word));
    return std::pair(config.rootfs_propagation, config.rootfs_propagation_recursive);
  };
  using enum linux::Propagation;
  BOOST_TEST((propagation("shared") == std::pair(kShared, false)));
  BOOST_TEST((propagation("rslave") == std::pair(kSlave, true)));
  BOOST_TEST((propagation("rprivate") == std::pair(kPrivate, true)));
  BOOST_TEST((propagation("unbindable") == std::pair(kUnbindable, false)));
  BOOST_TEST((propagation("").first == kUnchanged));
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"rootfsPropagation": "privat"}})", "/linux/rootfsPropagation",
       "unknown propagation \"privat\" (did you mean private?)"},
      {R"({"linux": {"rootfsPropagation": "r"}})", "/linux/rootfsPropagation",
       "unknown propagation"}};
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(covered_paths_are_absolute_and_need_a_mount_namespace) {  // L-31 … L-33
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"maskedPaths": ["/proc/kcore", "proc/keys"]}})", "/linux/maskedPaths/1",
       "must be an absolute path, not \"proc/keys\""},
      {R"({"linux": {"readonlyPaths": ["../x"]}})", "/linux/readonlyPaths/0",
       "must be an absolute path"},
      {R"({"linux": {"namespaces": [{"type": "uts"}], "maskedPaths": ["/proc/kcore"]}})",
       "/linux/maskedPaths", "needs a mount namespace"},
      {R"({"linux": {"namespaces": [{"type": "uts"}], "readonlyPaths": ["/proc/bus"]}})",
       "/linux/readonlyPaths", "needs a mount namespace"},
  };
  check_mistakes(kMistakes);
  const Config config = config_of(
      R"({"linux": {"maskedPaths": ["/a", "/a"], "readonlyPaths": ["/b"], "mountLabel": "l"}})");
  BOOST_TEST(config.masked_paths.size() == 2U);
  BOOST_TEST(config.readonly_paths[0].string() == "/b");
  BOOST_TEST(config.mount_label == "l");  // L-34
}

BOOST_AUTO_TEST_CASE(sysctls_belong_to_a_namespace_of_the_container) {  // L-35
  const Config config = config_of(R"({"linux": {"sysctl": {
    "net.ipv4.ip_forward": "1", "kernel/shmmax": "4096", "net/ipv4/conf/eno2.100/rp_filter": "0"}}})");
  BOOST_TEST_REQUIRE(config.sysctls.size() == 3U);
  BOOST_TEST(config.sysctls[0].path == "net/ipv4/ip_forward");
  BOOST_TEST(config.sysctls[2].path == "net/ipv4/conf/eno2.100/rp_filter");
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"sysctl": {"vm.swappiness": "1"}}})", "/linux/sysctl/vm.swappiness",
       "belongs to the whole host"},
      {R"({"linux": {"sysctl": {"net/../vm/x": "1"}}})", "/linux/sysctl/net~1..~1vm~1x",
       "must be names"},
      {R"({"linux": {"sysctl": {"net.core.somaxconn": 1}}})", "/linux/sysctl/net.core.somaxconn",
       "must be a string, not 1"},
      {R"({"linux": {"namespaces": [{"type": "uts"}, {"type": "mount"}],
          "sysctl": {"net.core.somaxconn": "1"}}})",
       "/linux/sysctl/net.core.somaxconn", "no network namespace"},
      {R"({"linux": {"sysctl": {"kernel.hostname": "x"}}})", "/linux/sysctl/kernel.hostname",
       "/hostname"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(personality) {  // L-36
  BOOST_TEST(*config_of(R"({"linux": {"personality": {"domain": "LINUX32"}}})").personality ==
             static_cast<unsigned long>(PER_LINUX32));
  BOOST_TEST(
      *config_of(R"({"linux": {"personality": {"domain": "LINUX", "flags": []}}})").personality ==
      0U);
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"personality": {}}})", "/linux/personality/domain", "is missing"},
      {R"({"linux": {"personality": {"domain": "LINUX64"}}})", "/linux/personality/domain",
       "unknown domain"},
      {R"({"linux": {"personality": {"domain": "LINUX", "flags": ["ADDR_NO_RANDOMIZE"]}}})",
       "/linux/personality/flags/0",
       "unknown flag \"ADDR_NO_RANDOMIZE\": the specification defines no flag"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(memory_policy) {  // L-37
  const Config config = config_of(R"({"linux": {"memoryPolicy": {"mode": "MPOL_INTERLEAVE",
    "nodes": "0,2-3", "flags": ["MPOL_F_STATIC_NODES"]}}})");
  BOOST_TEST(config.memory_policy->nodes.contains(2));
  BOOST_TEST(config.memory_policy->flags == *linux::memory_policy_flag("MPOL_F_STATIC_NODES"));
  constexpr std::string_view kAccepted[] = {
      R"({"linux": {"memoryPolicy": {"mode": "MPOL_DEFAULT"}}})",
      R"({"linux": {"memoryPolicy": {"mode": "MPOL_LOCAL", "nodes": ""}}})",
      R"({"linux": {"memoryPolicy": {"mode": "MPOL_PREFERRED"}}})"};
  check_accepted(kAccepted);
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"memoryPolicy": {}}})", "/linux/memoryPolicy/mode", "is missing"},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_BINDD", "nodes": "0"}}})",
       "/linux/memoryPolicy/mode", "(did you mean MPOL_BIND?)"},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_BIND"}}})", "/linux/memoryPolicy/nodes",
       "is missing"},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_LOCAL", "nodes": "0"}}})",
       "/linux/memoryPolicy/nodes", "must be empty"},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_BIND", "nodes": "x"}}})",
       "/linux/memoryPolicy/nodes", "list \"x\""},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_BIND", "nodes": "0", "flags": ["X"]}}})",
       "/linux/memoryPolicy/flags/0", "unknown flag"},
      {R"({"linux": {"memoryPolicy": {"mode": "MPOL_BIND", "nodes": "0",
          "flags": ["MPOL_F_STATIC_NODES", "MPOL_F_RELATIVE_NODES"]}}})",
       "/linux/memoryPolicy/flags", "exclude each other"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(intel_rdt) {  // I-1 … I-10
  const Config config =
      config_of(R"({"linux": {"intelRdt": {"closID": "/", "l3CacheSchema": "L3:0=f",
    "memBwSchema": "MB:0=50", "schemata": ["L2:0=1", ""], "enableMonitoring": true}}})");
  BOOST_TEST(*config.intel_rdt->clos_id == "/");
  BOOST_TEST(config.intel_rdt->schemata->size() == 2U);
  BOOST_TEST(config.intel_rdt->enable_monitoring);
  BOOST_TEST(
      !config_of(R"({"linux": {"intelRdt": {"closID": ""}}})").intel_rdt->clos_id.has_value());
  BOOST_TEST(!config_of("{}").intel_rdt.has_value());
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"intelRdt": {"closID": "."}}})", "/linux/intelRdt/closID",
       "one directory name"},
      {R"({"linux": {"intelRdt": {"closID": ".."}}})", "/linux/intelRdt/closID",
       "one directory name"},
      {R"({"linux": {"intelRdt": {"closID": "a/b"}}})", "/linux/intelRdt/closID",
       "one directory name"},
      {R"({"linux": {"intelRdt": {"closID": "info"}}})", "/linux/intelRdt/closID",
       "that resctrl does not use itself"},
      {R"({"linux": {"intelRdt": {"closID": "mon_groups"}}})", "/linux/intelRdt/closID",
       "that resctrl does not use itself"},
      {R"({"linux": {"intelRdt": {"closID": "mon_data"}}})", "/linux/intelRdt/closID",
       "that resctrl does not use itself"},
      {R"({"linux": {"intelRdt": {"memBwSchema": "L3:0=f"}}})", "/linux/intelRdt/memBwSchema",
       "must begin with \"MB:\""},
      {R"({"linux": {"intelRdt": {"memBwSchema": "MB:0=1\nL3:0=1"}}})",
       "/linux/intelRdt/memBwSchema", "must be one line"},
      {R"({"linux": {"intelRdt": {"schemata": ["MB:0=1", "a\nb"]}}})", "/linux/intelRdt/schemata/1",
       "must be one line"},
  };
  check_mistakes(kMistakes);
  BOOST_TEST(
      parse_patched(R"({"linux": {"intelRdt": {"l3CacheSchema": "0=f"}}})").warnings.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_cgroups_path_stays_inside) {  // R-1, R-3
  BOOST_TEST(*config_of(R"({"linux": {"cgroupsPath": "/a/b..c/..d"}})").cgroups_path ==
             "/a/b..c/..d");
  BOOST_TEST(*config_of(R"({"linux": {"cgroupsPath": "a.slice:crio:b"}})").cgroups_path ==
             "a.slice:crio:b");
  BOOST_TEST(!config_of(R"({"linux": {"cgroupsPath": ""}})").cgroups_path.has_value());
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"cgroupsPath": "/a/../../b"}})", "/linux/cgroupsPath",
       "must not contain \"..\""},
      {R"({"linux": {"cgroupsPath": ".."}})", "/linux/cgroupsPath", "must not contain \"..\""}};
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
