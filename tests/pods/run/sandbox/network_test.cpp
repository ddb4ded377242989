#include "pods/run/sandbox/network.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "linux/programs/program.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

using Choice = NetworkChoice::Kind;

Port port(const char* name, std::uint16_t number, Protocol protocol = Protocol::kTcp) {
  return {.name = name, .number = number, .protocol = protocol, .place = nullptr};
}
HostPort host_port(const char* name, std::uint16_t number, const char* address = "") {
  return {.name = name, .number = number, .address = address, .pod_port = {}, .place = nullptr};
}

/// A pod with a container that has two ports, and a directory that is all of PATH.
struct NetworkScene {
  Scratch scratch;
  Pod pod;
  std::string path;

  NetworkScene() {
    pod.containers.emplace_back();
    pod.containers[0].ports = {port("web", 80), port("dns", 53, Protocol::kUdp)};
    if (const char* before = std::getenv("PATH")) path = before;
    scratch.script("pasta", "true");
    ::setenv("PATH", scratch.path().c_str(), 1);
  }
  ~NetworkScene() { ::setenv("PATH", path.c_str(), 1); }
  Result<NetworkPlan> plan(Choice kind, const std::string& network = "") const {
    return plan_network(pod, {.kind = kind, .path = network});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(networks_of_pods, NetworkScene)

BOOST_AUTO_TEST_CASE(a_port_of_a_container_opens_no_port_of_the_host_and_is_closed) {
  BOOST_TEST(forwards_of(pod).empty());
  BOOST_TEST((closed_ports(pod) ==
              std::vector<Forward>{{"", 80, 80, Protocol::kTcp}, {"", 53, 53, Protocol::kUdp}}));
  pod.containers.emplace_back();
  pod.containers[1].ports = {port("", 53)};  // another protocol
  BOOST_TEST(closed_ports(pod).size() == 3u);
  pod.containers[1].ports = {port("", 80)};
  BOOST_TEST(closed_ports(pod).size() == 2u);  // one of the two opens it
  pod.host_ports = {host_port("web", 8080)};
  BOOST_TEST((closed_ports(pod) == std::vector<Forward>{{"", 53, 53, Protocol::kUdp}}));
}

BOOST_AUTO_TEST_CASE(closed_ports_are_told_unless_somebody_has_chosen_the_open_ports) {
  BOOST_REQUIRE(must(plan(Choice::kPod)).warnings.size() == 1u);
  BOOST_TEST(must(plan(Choice::kPod)).warnings[0] ==
             "no port of the host leads to the ports 80, 53/udp of the pod: --publish 80=HOSTPORT "
             "opens one, --publish-all each port at the same number");
  BOOST_TEST(must(plan_network(pod, {.kind = Choice::kPod, .shared = "shop"})).warnings.empty());
  pod.host_ports = {host_port("web", 8080)};
  BOOST_TEST(must(plan(Choice::kPod)).warnings.empty());
}

BOOST_AUTO_TEST_CASE(ports_that_the_document_maps_are_forwarded_and_no_others) {  // AC-20
  pod.host_ports = {host_port("web", 8080, "192.0.2.1")};
  BOOST_TEST((forwards_of(pod) == std::vector<Forward>{{"192.0.2.1", 8080, 80, Protocol::kTcp}}));
  pod.host_ports[0].pod_port = port("", 81);
  BOOST_TEST(forwards_of(pod)[0].pod_port == 81);
}

BOOST_AUTO_TEST_CASE(pasta_connects_a_network_of_the_pods_own) {
  must(publish({.ports = {}, .all = true}, pod));
  for (const Choice kind : {Choice::kDefault, Choice::kPod}) {
    const NetworkPlan plan = must(this->plan(kind));
    BOOST_TEST((plan.own_network && plan.pasta == scratch / "pasta"));
    BOOST_TEST((plan.forwards.size() == 2u && plan.warnings.empty()));
    BOOST_TEST((plan.visible() == Network::kOwn));
  }
}

BOOST_AUTO_TEST_CASE(on_the_hosts_network_a_port_cannot_be_moved) {
  const NetworkPlan plan = must(this->plan(Choice::kHost));
  BOOST_TEST((!plan.own_network && plan.forwards.empty() && plan.visible() == Network::kHost));
  pod.host_ports = {host_port("web", 8080)};
  BOOST_TEST(must_fail(this->plan(Choice::kHost))
                 .starts_with("--net host: port 8080 of the host is to lead to port 80"));
}

BOOST_AUTO_TEST_CASE(what_nobody_forwards_is_told) {
  must(publish({.ports = {}, .all = true}, pod));
  const NetworkPlan none = must(plan(Choice::kNone));
  BOOST_TEST((none.own_network && none.forwards.empty() && none.pasta.empty()));
  BOOST_TEST(none.warnings.size() == 1u);
  const NetworkPlan other = must(plan(Choice::kPath, "/proc/self/ns/net"));
  BOOST_TEST((!other.own_network && other.path == "/proc/self/ns/net"));
  BOOST_TEST(other.warnings.size() == 1u);
  BOOST_TEST((other.visible() == Network::kOwn));
  BOOST_TEST(must_fail(plan(Choice::kPath, scratch / "absent")).starts_with("--net: open "));
  pod.host_ports.clear();
  BOOST_TEST(must(plan(Choice::kNone)).warnings.empty());
}

BOOST_AUTO_TEST_CASE(without_pasta_ports_are_an_error_and_a_loopback_device_a_warning) {
  std::filesystem::remove(scratch / "pasta");
  if (!linux::find_program("pasta").empty()) {
    BOOST_TEST_MESSAGE("skipped: pasta is where programs for root are");
    return;
  }
  must(publish({.ports = {}, .all = true}, pod));
  for (const Choice kind : {Choice::kDefault, Choice::kPod})
    BOOST_TEST(must_fail(plan(kind)).starts_with("the pod's network needs the program pasta"));
  pod.host_ports.clear();
  BOOST_TEST(must(plan(Choice::kDefault)).warnings.size() == 1u);
  BOOST_TEST(!plan(Choice::kPod));
}

BOOST_AUTO_TEST_SUITE_END()
