// What the API of Kubernetes takes, and templates write.

#include <fmt/format.h>

#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string pod(std::string_view members, std::string_view of_pod = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n{}  containers:\n"
      "  - {{name: a, image: busybox, {}}}\n",
      of_pod, members);
}

std::optional<std::uint64_t> memory(std::string_view quantity) {
  return good(pod(fmt::format("resources: {{limits: {{memory: {}}}}}", quantity)))
      .containers.at(0)
      .resources.limits.memory;
}
std::optional<double> cpus(std::string_view quantity) {
  return good(pod(fmt::format("resources: {{limits: {{cpu: {}}}}}", quantity)))
      .containers.at(0)
      .resources.limits.cpus;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leniency)

BOOST_AUTO_TEST_CASE(a_quantity_may_have_an_exponent_or_thousandths) {
  BOOST_TEST(*memory("1e8") == 100'000'000U);
  BOOST_TEST(*memory("\"1e8\"") == 100'000'000U);
  BOOST_TEST(*memory("129e6") == 129'000'000U);
  BOOST_TEST(*memory("129E+6") == 129'000'000U);
  BOOST_TEST(*memory("128974848000m") == 128'974'848U);
  BOOST_TEST(*memory("1E") == 1'000'000'000'000'000'000U);
  BOOST_TEST(*memory("1500m") == 2U);  // whole bytes
  BOOST_TEST(*memory("1.5Ki") == 1536U);
  BOOST_TEST(*memory("+1k") == 1000U);
  BOOST_TEST(*cpus("1e-1") == 0.1);
  BOOST_TEST(*cpus("100000u") == 0.1);
  BOOST_TEST(*cpus("100000000n") == 0.1);
  BOOST_TEST(*cpus("500m") == 0.5);
  for (const char* faulty :
       {"1ee8", "\"1e\"", "\"e8\"", "\"1 Mi\"", "\"-1Mi\"", "\"1.2.3\"", "\"\"", "\"1Ei8\""})
    BOOST_TEST(problems(pod(fmt::format("resources: {{limits: {{memory: {}}}}}", faulty)))
                   .contains("must be a number of bytes above 0"),
               faulty);
  BOOST_TEST(problems(pod("resources: {limits: {memory: 8E3E}}")) != "");
  BOOST_TEST(problems(pod("resources: {limits: {memory: 1e30}}")).contains("more than the"));
  BOOST_TEST(problems(pod("resources: {limits: {memory: 1e400}}")).contains("more than the"));
}

BOOST_AUTO_TEST_CASE(a_label_of_selinux_may_have_any_of_its_parts) {
  const auto label = [](std::string_view parts) {
    return good(pod(fmt::format("securityContext: {{seLinuxOptions: {{{}}}}}", parts)))
        .containers.at(0)
        .security.selinux_label;
  };
  BOOST_TEST(label("level: \"s0:c123,c456\"") == "system_u:system_r:container_t:s0:c123,c456");
  BOOST_TEST(label("type: spc_t") == "system_u:system_r:spc_t:s0");
  BOOST_TEST(label("user: u, role: r") == "u:r:container_t:s0");
  BOOST_TEST(label("") == "");
  BOOST_TEST(label("user: \"\", level: \"\"") == "");
  // {} of a container replaces what the pod says.
  BOOST_TEST(good(pod("securityContext: {seLinuxOptions: {}}",
                      "  securityContext: {seLinuxOptions: {level: s0}}\n"))
                 .containers.at(0)
                 .security.selinux_label == "");
}

BOOST_AUTO_TEST_CASE(a_port_of_the_host_at_two_addresses_is_two_ports) {
  const auto ports = [](std::string_view one, std::string_view other, int port = 80) {
    return pod(
        fmt::format("ports: [{{containerPort: 80, hostPort: 18080, hostIP: \"{}\"}}, "
                    "{{containerPort: {}, hostPort: 18080, hostIP: \"{}\"}}]",
                    one, port, other));
  };
  BOOST_TEST(good(ports("127.0.0.2", "127.0.0.3")).host_ports.size() == 2U);
  BOOST_TEST(good(ports("127.0.0.2", "127.0.0.3", 81)).host_ports.size() == 2U);
  BOOST_TEST(good(ports("127.0.0.1", "::1")).host_ports.size() == 2U);
  BOOST_TEST(good(ports("127.0.0.2", "127.0.0.2")).host_ports.size() == 1U);
  for (const char* all : {"", "0.0.0.0"})
    BOOST_TEST(problems(ports("127.0.0.2", all, 81)).contains("is given twice"), all);
  BOOST_TEST(problems(ports("::1", "0:0::0", 81)).contains("is given twice"));
}

BOOST_AUTO_TEST_CASE(names_of_capabilities_have_no_case) {
  for (const char* all : {"all", "ALL", "All"}) {
    const Pod read = good(
        pod(fmt::format("securityContext: {{capabilities: {{drop: [{}], add: [chown]}}}}", all)));
    const auto& retained = read.containers.at(0).security.retained_capabilities;
    BOOST_REQUIRE_MESSAGE(retained.has_value(), all);
    BOOST_TEST(*retained == std::vector<std::string>{"CAP_CHOWN"},
               boost::test_tools::per_element());
  }
  BOOST_TEST(good(pod("securityContext: {capabilities: {drop: [net_raw, cap_kill]}}"))
                     .containers.at(0)
                     .security.removed_capabilities ==
                 (std::vector<std::string>{"CAP_NET_RAW", "CAP_KILL"}),
             boost::test_tools::per_element());
  BOOST_TEST(
      problems(pod("securityContext: {capabilities: {add: [all]}}")).contains("ALL are too many"));
  BOOST_TEST(problems(pod("securityContext: {capabilities: {drop: [all, nonsense]}}"))
                 .contains("unknown capability \"nonsense\""));
}

BOOST_AUTO_TEST_CASE(of_two_variables_of_one_name_the_last_counts) {
  const std::string text =
      pod("env: [{name: A, value: one}, {name: B, value: $(A)}, {name: A, value: two}]");
  BOOST_TEST(problems(text) == "");
  BOOST_TEST(warnings(text).contains(
      "/spec/containers/0/env/2/name: \"A\" is set by item 0 too: the value of this one counts"));
  const std::string oam =
      "apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: {name: p}\nspec:\n"
      "  containers: [{name: a, image: b, env: [{name: A, value: \"1\"}, {name: A, value: "
      "\"2\"}]}]\n";
  BOOST_TEST(problems(oam) == "");
  BOOST_TEST(warnings(oam).contains("/spec/containers/0/env/1/name: \"A\" is set by item 0 too"));
}

BOOST_AUTO_TEST_CASE(an_empty_value_is_an_absent_one) {
  const Pod read =
      good(pod("command: [], args: [], workingDir: \"\", imagePullPolicy: \"\", env: [], "
               "ports: [{containerPort: 80, name: \"\", protocol: \"\", hostIP: \"\"}]",
               "  restartPolicy: \"\"\n  hostname: \"\"\n  nodeName: \"\"\n"));
  BOOST_TEST(!read.containers.at(0).command.has_value());
  BOOST_TEST(!read.containers.at(0).args.has_value());
  BOOST_TEST(read.containers.at(0).working_directory == "");
  BOOST_TEST(!read.containers.at(0).pull_policy.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
