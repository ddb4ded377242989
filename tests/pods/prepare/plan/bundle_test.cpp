// The config.json of a container of a pod. Each is read by the runtime's own parser.

#include "pods/prepare/plan/bundle.hpp"

#include <linux/mount.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "bundle/config/config.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

struct BundleFixture {
  BundlePlan plan;
  BundleFixture() {
    plan.launch.args = {"/bin/httpd"};
    plan.launch.env = {"PATH=/bin"};
    plan.launch.cwd = "/";
    plan.root = "rootfs";
  }

  bundle::Config config() const {
    const bundle::Parsed parsed =
        bundle::parse_config(must(config_text(plan)), HostPath("/b"), bundle::UnknownNames::kTold);
    for (const std::string& sentence : parsed.problems) BOOST_ERROR(sentence);
    for (const std::string& sentence : parsed.refusals) BOOST_ERROR(sentence);
    for (const std::string& sentence : parsed.warnings) BOOST_ERROR(sentence);
    BOOST_REQUIRE(parsed.config.has_value());
    return *parsed.config;
  }
  const linux::Mount mount(std::string_view destination) const {
    const linux::Mount* found = nullptr;
    const bundle::Config read = config();
    for (const linux::Mount& item : read.mounts)
      if (item.destination.string() == destination) found = &item;
    BOOST_REQUIRE(found != nullptr);
    return *found;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bundle_of_a_container, BundleFixture)

BOOST_AUTO_TEST_CASE(the_least_bundle_is_valid_and_confined) {
  plan.hostname = "web";
  const bundle::Config read = config();
  BOOST_TEST((read.process->args == std::vector<std::string>{"/bin/httpd"}));
  BOOST_TEST((!read.process->terminal && read.process->user.umask == 022U));
  BOOST_TEST(read.root_path.string() == "/b/rootfs");
  BOOST_TEST(read.hostname == "web");
  for (const auto kind : linux::kNamespaceKinds)
    BOOST_TEST(read.namespaces.creates(kind) ==
               (kind != linux::NamespaceKind::kUser && kind != linux::NamespaceKind::kTime));
  BOOST_TEST((!read.masked_paths.empty() && !read.readonly_paths.empty()));
  BOOST_TEST(!read.process->capabilities->bounding.has(*linux::capability_number("CAP_SYS_ADMIN")));
  BOOST_TEST(read.process->capabilities->bounding.has(*linux::capability_number("CAP_SETUID")));
  BOOST_TEST((read.process->capabilities->ambient == linux::CapabilitySet{}));
  BOOST_TEST((read.process->capabilities->inheritable == linux::CapabilitySet{}));
  BOOST_TEST(read.seccomp.has_value());
}

BOOST_AUTO_TEST_CASE(devices_bring_nodes_rules_mounts_variables_groups_and_hooks) {
  plan.launch.account.uid = must(Uid::make(1000));
  plan.launch.env = {"PATH=/bin", "A=image", "B=1"};
  plan.bound = {{.source = "/srv", .destination = "/usr/lib"}};
  plan.devices = {
      .env = {"A=device", "C=1"},
      .nodes = {{.path = "/dev/g0",
                 .host_path = "/dev/g0",
                 .type = 'c',
                 .major = 195,
                 .minor = 255,
                 .mode = 0640,
                 .access = "rw",
                 .uid = {},
                 .gid = must(Gid::make(44))},
                {.path = "/dev/disk",
                 .host_path = "/dev/sda",
                 .type = 'b',
                 .major = 8,
                 .minor = 0,
                 .mode = {},
                 .access = "",
                 .uid = Uid{},
                 .gid = {}}},
      .mounts = {{.source = "/l/so",
                  .destination = "/usr/lib/so",
                  .type = "bind",
                  .options = {"rbind", "ro"}},
                 {.source = "t", .destination = "/t", .type = "tmpfs", .options = {"size=64k"}}},
      .hooks =
          {{.name = "poststop", .path = "/h", .args = {"h", "2"}, .env = {"X=y"}, .timeout = 7},
           {.name = "createRuntime", .path = "/h", .args = {}, .env = {}, .timeout = {}}},
      .rdt = DeviceRdt{.clos_id = "c",
                       .l3_cache_schema = "L3:0=f",
                       .mem_bw_schema = "MB:0=10",
                       .schemata = {"L2:0=f"},
                       .enable_monitoring = true},
      .gids = {must(Gid::make(44))}};
  const bundle::Config read = config();
  BOOST_TEST(
      (read.process->env == std::vector<std::string>{"PATH=/bin", "A=device", "B=1", "C=1"}));
  BOOST_TEST((read.process->user.additional_gids == std::vector<Gid>{Gid{}, must(Gid::make(44))}));
  BOOST_REQUIRE(read.devices.size() == 2U);
  BOOST_TEST((read.devices[0].path.string() == "/dev/g0" && read.devices[0].major == 195 &&
              read.devices[0].minor == 255 && read.devices[0].mode == 0640U &&
              read.devices[0].uid.value() == 1000 && read.devices[0].gid.value() == 44));
  BOOST_TEST((read.devices[1].kind == linux::Device::Kind::kBlock && !read.devices[1].mode &&
              read.devices[1].uid.value() == 0));
  BOOST_REQUIRE(read.resources->devices.size() ==
                2U);  // all are denied; the node without access stays so
  BOOST_TEST((!read.resources->devices[0].allow && read.resources->devices[1].allow &&
              read.resources->devices[1].major == 195));
  const auto place = [&](std::string_view destination) {
    return std::ranges::find(read.mounts, destination,
                             [](const linux::Mount& item) { return item.destination.string(); }) -
           read.mounts.begin();
  };
  BOOST_TEST(place("/usr/lib") < place("/usr/lib/so"));
  BOOST_TEST((mount("/usr/lib/so").bind && mount("/t").type == "tmpfs"));
  BOOST_TEST((read.hooks.of(hooks::Kind::kPoststop).size() == 1 &&
              read.hooks.of(hooks::Kind::kCreateRuntime).size() == 1));
  BOOST_TEST((read.intel_rdt->schemata->size() == 1 && read.intel_rdt->enable_monitoring));
}

BOOST_AUTO_TEST_CASE(where_no_node_can_be_made_the_host_s_is_bound) {
  plan.devices.nodes = {{.path = "/dev/g0",
                         .host_path = "/dev/zero",
                         .type = 'c',
                         .major = 1,
                         .minor = 5,
                         .mode = 0666,
                         .access = "rw",
                         .uid = {},
                         .gid = {}},
                        {.path = "/dev/f",
                         .host_path = "/f",
                         .type = 'p',
                         .major = 0,
                         .minor = 0,
                         .mode = 0600,
                         .access = "rw",
                         .uid = {},
                         .gid = {}}};
  plan.powers.device_nodes = plan.powers.device_rules = false;
  const bundle::Config read = config();
  BOOST_TEST((read.devices.size() == 1 && read.devices[0].path.string() == "/dev/f"));
  BOOST_TEST(read.resources->devices.empty());
  BOOST_TEST((mount("/dev/g0").bind && mount("/dev/g0").source == "/dev/zero"));
}

BOOST_AUTO_TEST_CASE(the_primary_group_is_among_the_supplementary_groups) {  // CVE-2022-36109
  plan.launch.account.gid = must(Gid::make(34));
  BOOST_TEST((config().process->user.additional_gids == std::vector<Gid>{must(Gid::make(34))}));
  plan.powers.set_groups = SetGroups::kDenied;
  BOOST_TEST(config().process->user.additional_gids.empty());
}

BOOST_AUTO_TEST_CASE(the_operator_chooses_the_filter_and_the_document_wins) {
  using Kind = SeccompChoice::Kind;
  plan.seccomp = {.kind = Kind::kUnconfined, .profile = ""};
  BOOST_TEST(!config().seccomp.has_value());
  plan.seccomp = {.kind = Kind::kProfile,
                  .profile = R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": []})"};
  BOOST_TEST((config().seccomp->default_action == linux::SeccompAction::kLog));
  plan.security.system_calls = {.allowed = false, .names = {"ptrace"}, .errno_name = "EPERM"};
  BOOST_TEST((config().seccomp->default_action == linux::SeccompAction::kAllow));
}

BOOST_AUTO_TEST_CASE(the_default_filter_follows_the_capabilities) {
  const auto allows_mount = [&] {
    bool found = false;
    const bundle::Config read = config();
    for (const linux::SeccompRule& rule : read.seccomp->rules)
      if (rule.action == linux::SeccompAction::kAllow)
        found = found || std::ranges::find(rule.names, "mount") != rule.names.end();
    return found;
  };
  BOOST_TEST(!allows_mount());
  plan.security.retained_capabilities = {"CAP_SYS_ADMIN"};
  BOOST_TEST(allows_mount());
  plan.security.removed_capabilities = {"CAP_SYS_ADMIN"};
  BOOST_TEST(!allows_mount());
}

BOOST_AUTO_TEST_CASE(namespaces_are_those_of_the_pod) {
  plan.hostname = "web";
  plan.shared = {.network = "/proc/7/ns/net",
                 .ipc = "/proc/7/ns/ipc",
                 .uts = "/proc/7/ns/uts",
                 .pid = "/proc/7/ns/pid"};
  bundle::Config read = config();
  for (const auto kind : {linux::NamespaceKind::kNetwork, linux::NamespaceKind::kIpc,
                          linux::NamespaceKind::kUts, linux::NamespaceKind::kPid})
    BOOST_TEST(read.namespaces.joins(kind));
  BOOST_TEST(read.hostname == "");  // the holder of the namespace has set it
  plan.shared = {.network = "", .ipc = "", .uts = "", .pid = "", .host_network = true};
  read = config();
  BOOST_TEST(!read.namespaces.contains(linux::NamespaceKind::kNetwork));
  BOOST_TEST(read.namespaces.creates(linux::NamespaceKind::kPid));
}

BOOST_AUTO_TEST_CASE(mounts_of_volumes_are_read_only_with_all_below_them) {
  plan.bound = {{"/srv/below", "/data/below", false, true},
                {"/srv/data", "/data", true, true},
                {"/srv/file", "/etc/f", true, false}};
  const linux::Mount data = mount("/data");
  BOOST_TEST((data.bind && data.recursive && data.source == "/srv/data"));
  BOOST_TEST(((data.attributes.set & MOUNT_ATTR_RDONLY) != 0 &&
              (data.recursive_attributes.set & MOUNT_ATTR_RDONLY) != 0));
  const linux::Mount file = mount("/etc/f");
  BOOST_TEST((file.bind && !file.recursive && (file.attributes.set & MOUNT_ATTR_RDONLY) != 0));
  BOOST_TEST((mount("/data/below").attributes.set & MOUNT_ATTR_RDONLY) == 0U);
  const bundle::Config read = config();
  const auto index = [&](std::string_view destination) {
    std::size_t at = 0;
    while (read.mounts[at].destination.string() != destination) ++at;
    return at;
  };
  BOOST_TEST(index("/data") < index("/data/below"));
}

BOOST_AUTO_TEST_CASE(a_directory_in_memory_has_mode_and_size) {
  plan.in_memory = {{"/tmp", 01777, 1U << 20}, {"/var/log", 0755, {}}};
  const linux::Mount tmp = mount("/tmp");
  BOOST_TEST(tmp.type == "tmpfs");
  BOOST_TEST((tmp.data == std::vector<std::string>{"mode=1777", "size=1048576"}));
  BOOST_TEST((mount("/var/log").data == std::vector<std::string>{"mode=755"}));
}

BOOST_AUTO_TEST_CASE(requests_are_weights_and_limits_are_limits) {  // OAM-30, OAM-31, RX-10, RX-11
  plan.resources.requests = {.cpus = 0.5, .memory = 64U << 20};
  bundle::Config read = config();
  BOOST_TEST((read.resources->cpu->shares == 512U && !read.resources->cpu->quota));
  BOOST_TEST((read.resources->memory->reservation == 64 << 20 && !read.resources->memory->limit));
  plan.resources.limits = {.cpus = 1.5, .memory = 128U << 20};
  read = config();
  BOOST_TEST((read.resources->cpu->quota == 150'000 && read.resources->cpu->period == 100'000U));
  BOOST_TEST((read.resources->memory->limit == 128 << 20));
  plan.resources.limits = {};
  plan.requests = Requests::kHard;
  read = config();
  BOOST_TEST((read.resources->cpu->quota == 50'000 && read.resources->memory->limit == 64 << 20));
  plan.resources.requests.cpus = 0.0001;
  read = config();
  BOOST_TEST((read.resources->cpu->shares == 2U && read.resources->cpu->quota == 1000));
  plan.resources.limits.cpus = 2e8;  // the kernel takes no quota for so many
  BOOST_TEST((config().resources->cpu->quota == cgroups::kMostQuota));
  plan.security.cpu_shares = 700;  // AC-18
  BOOST_TEST((config().resources->cpu->shares == 700U));
}

BOOST_AUTO_TEST_CASE(isolators_of_an_app_are_applied) {  // AC-18
  plan.security.retained_capabilities = {"CAP_CHOWN"};
  plan.security.no_new_privileges = true;
  plan.security.oom_score_adj = -5;
  bundle::Config read = config();
  BOOST_TEST((read.process->no_new_privileges && read.process->oom_score_adj == -5));
  linux::CapabilitySet chown;
  chown.add(*linux::capability_number("CAP_CHOWN"));
  BOOST_TEST((read.process->capabilities->bounding == chown &&
              read.process->capabilities->permitted == chown));
  plan.security.retained_capabilities.reset();
  plan.security.removed_capabilities = {"CAP_CHOWN"};
  BOOST_TEST(
      !config().process->capabilities->effective.has(*linux::capability_number("CAP_CHOWN")));
  plan.security.removed_capabilities = {"CAP_NONE"};
  BOOST_TEST(must_fail(config_text(plan)) == "unknown capability \"CAP_NONE\"");
}

BOOST_AUTO_TEST_CASE(system_calls_are_filtered) {  // AC-18
  plan.security.system_calls = {.allowed = false, .names = {"ptrace"}, .errno_name = "EPERM"};
  BOOST_TEST(config().seccomp.has_value());
  BOOST_TEST(must(config_text(plan)).contains("\"errnoRet\": 1"));
  plan.security.system_calls = {.allowed = true, .names = {"read", "write"}, .errno_name = ""};
  BOOST_TEST(config().seccomp.has_value());
  BOOST_TEST(must(config_text(plan)).contains("\"defaultAction\": \"SCMP_ACT_KILL_PROCESS\""));
  plan.security.system_calls = {.allowed = true, .names = {"@appc.io/all"}, .errno_name = ""};
  BOOST_TEST(!config().seccomp.has_value());
  plan.security.system_calls = {.allowed = false, .names = {"@appc.io/empty"}, .errno_name = ""};
  BOOST_TEST(config().seccomp.has_value());
  plan.security.system_calls = {.allowed = false, .names = {"@docker/default"}, .errno_name = ""};
  BOOST_TEST(
      must_fail(config_text(plan)).starts_with("unknown set of system calls \"@docker/default\""));
  plan.security.system_calls = {.allowed = false, .names = {"ptrace"}, .errno_name = "ENONE"};
  BOOST_TEST(must_fail(config_text(plan)) == "unknown error \"ENONE\"");
}

BOOST_AUTO_TEST_CASE(the_account_has_its_groups) {
  plan.launch.account.uid = must(Uid::make(33));
  plan.launch.account.gid = must(Gid::make(34));
  plan.launch.account.additional_gids = {must(Gid::make(50))};
  plan.launch.annotations = {{"a", "b"}};
  const bundle::Config read = config();
  BOOST_TEST((read.process->user.uid.value() == 33 && read.process->user.gid.value() == 34));
  const std::vector<Gid> groups{must(Gid::make(34)), must(Gid::make(50))};  // CVE-2022-36109
  BOOST_TEST((read.process->user.additional_gids == groups));
  BOOST_TEST(read.annotations.at("a") == "b");
}

BOOST_AUTO_TEST_CASE(what_a_user_namespace_lacks_is_not_asked_for) {
  plan.resources.limits.memory = 1U << 20;
  BOOST_TEST(must(config_text(plan)).contains("gid=5"));
  plan.powers = {.cgroup = true, .device_rules = false, .tty_group = true, .sysfs = true};
  BOOST_TEST(config().resources->devices.empty());
  plan.powers = {.cgroup = false, .device_rules = false, .tty_group = false, .sysfs = false};
  const bundle::Config read = config();
  BOOST_TEST(!read.resources.has_value());
  BOOST_TEST(!must(config_text(plan)).contains("gid=5"));
  const linux::Mount sys = mount("/sys");
  BOOST_TEST((sys.bind && sys.recursive && sys.source == "/sys"));
  BOOST_TEST(!read.namespaces.contains(linux::NamespaceKind::kUser));
}

BOOST_AUTO_TEST_CASE(ids_make_a_user_namespace) {
  plan.ids = {.uids = {{0, 1000, 1}, {1, 100000, 65536}}, .gids = {{0, 1000, 1}}};
  const bundle::Config read = config();
  BOOST_TEST(read.namespaces.creates(linux::NamespaceKind::kUser));
  BOOST_TEST((read.id_map == plan.ids));
}

BOOST_AUTO_TEST_SUITE_END()
