// --publish: ports of the host for ports of a pod.

#include <boost/test/unit_test.hpp>

#include "pods/prepare/plan/ports.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

Port named_port(const char* name, std::uint16_t number, Protocol protocol = Protocol::kTcp) {
  return {.name = name, .number = number, .protocol = protocol, .place = nullptr};
}

struct PublishedScene {
  Pod pod;
  PublishedScene() {
    pod.containers.emplace_back();
    pod.containers[0].ports = {named_port("web", 80), named_port("dns", 53, Protocol::kUdp)};
  }
  /// The forwards of the pod, as "ADDRESS HOSTPORT PORT/PROTOCOL", after `words` were published.
  std::string after(std::initializer_list<const char*> words) {
    std::vector<Published> published;
    for (const char* word : words) published.push_back(must(read_published(word)));
    must(publish(published, pod));
    std::string text;
    for (const Forward& forward : forwards_of(pod))
      text += fmt::format("{} {} {}/{};", forward.address, forward.host_port, forward.pod_port,
                          forward.protocol == Protocol::kTcp ? "tcp" : "udp");
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(published_ports, PublishedScene)

BOOST_AUTO_TEST_CASE(a_value_has_a_port_of_the_pod_an_address_and_a_port_of_the_host) {
  const Published six = must(read_published("web=[2001:db8::1]:8080"));
  BOOST_TEST((six.port == "web" && six.address == "2001:db8::1" && six.host_port == 8080));
  const Published four = must(read_published("53/udp=127.0.0.1:5353"));
  BOOST_TEST((four.port == "53/udp" && four.address == "127.0.0.1" && four.host_port == 5353));
  BOOST_TEST(must(read_published("web=1")).address == "");
  for (const char* bad : {"web", "=1", "web=", "web=0", "web=65536", "web=:1", "web=::1:1",
                          "web=[127.0.0.1]:1", "web=host:1", "web=[::1]", "web=1x"})
    BOOST_TEST(must_fail(read_published(bad)).starts_with(fmt::format("--publish {}: must", bad)));
}

BOOST_AUTO_TEST_CASE(a_published_port_takes_the_place_of_the_documents_and_others_stay) {
  BOOST_TEST(after({}) == " 80 80/tcp; 53 53/udp;");
  BOOST_TEST(after({"web=8080"}) == " 8080 80/tcp; 53 53/udp;");
}

BOOST_AUTO_TEST_CASE(a_port_may_be_published_twice_and_by_its_number) {
  BOOST_TEST(after({"80=127.0.0.1:8080", "web=[::1]:8081", "53/udp=5353"}) ==
             "127.0.0.1 8080 80/tcp;::1 8081 80/tcp; 5353 53/udp;");
}

BOOST_AUTO_TEST_CASE(a_number_that_no_container_has_is_one_more_port) {
  BOOST_TEST(after({"53=5353"}) == " 5353 53/tcp; 80 80/tcp; 53 53/udp;");
}

BOOST_AUTO_TEST_CASE(a_port_of_the_host_is_given_once) {
  const auto twice = {must(read_published("80=127.0.0.1:8080")),
                      must(read_published("81=[::1]:8080"))};
  BOOST_TEST(must_fail(publish(twice, pod)).contains("port 8080 of the host is given twice"));
  BOOST_TEST(after({"80=8080", "53/udp=8080"}) == " 8080 80/tcp; 8080 53/udp;");
}

BOOST_AUTO_TEST_CASE(a_mapping_of_the_document_is_replaced) {  // AC-20
  pod.host_ports = {
      {.name = "web", .number = 8080, .address = "", .pod_port = {}, .place = nullptr}};
  pod.host_ports.push_back(pod.host_ports[0]);
  pod.host_ports[1].number = 8081;
  BOOST_TEST(after({"web=9090"}) == " 9090 80/tcp;");
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_an_error_that_lists_the_names) {
  BOOST_TEST(must_fail(publish({must(read_published("wed=1"))}, pod)) ==
             "--publish wed: no container has a port of this name (they have web, dns); a number "
             "may be any port");
  for (const char* bad : {"80/sctp=1", "0=1"})
    BOOST_TEST(must_fail(publish({must(read_published(bad))}, pod)).contains("no container has"));
  BOOST_TEST(after({"80/tcp=1"}) == " 1 80/tcp; 53 53/udp;");
}

BOOST_AUTO_TEST_CASE(each_port_of_the_host_has_the_container_and_the_name_of_its_port) {
  pod.containers[0].name = "app";
  must(publish({must(read_published("web=8080")), must(read_published("9000/udp=9001"))}, pod));
  const std::vector<PodPort> ports = ports_of(pod);
  BOOST_REQUIRE(ports.size() == 3);
  BOOST_TEST((ports[0].container == &pod.containers[0] && ports[0].name == "web"));
  BOOST_TEST(ports[0].forward.host_port == 8080);
  BOOST_TEST((ports[1].container == nullptr && ports[1].name.empty()));
  BOOST_TEST((ports[2].container == &pod.containers[0] && ports[2].name == "dns"));
}

BOOST_AUTO_TEST_SUITE_END()
