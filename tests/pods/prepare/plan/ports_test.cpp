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
  std::string after(std::initializer_list<const char*> words, bool all = false) {
    Publishing publishing{.ports = {}, .all = all};
    for (const char* word : words) publishing.ports.push_back(must(read_published(word)));
    must(publish(publishing, pod));
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
  pod.host_ports = {
      {.name = "dns", .number = 5353, .address = "", .pod_port = {}, .place = nullptr}};
  BOOST_TEST(after({}) == " 5353 53/udp;");
  BOOST_TEST(after({"web=8080"}) == " 8080 80/tcp; 5353 53/udp;");
}

BOOST_AUTO_TEST_CASE(all_ports_are_open_at_their_numbers_only_if_somebody_asks) {
  BOOST_TEST(after({}) == "");
  BOOST_TEST(after({}, true) == " 80 80/tcp; 53 53/udp;");
}

BOOST_AUTO_TEST_CASE(all_leaves_the_ports_that_are_open_already) {
  BOOST_TEST(after({"web=8080"}, true) == " 8080 80/tcp; 53 53/udp;");
  BOOST_TEST(after({}, true) == " 8080 80/tcp; 53 53/udp;");
}

BOOST_AUTO_TEST_CASE(all_cannot_open_a_port_of_the_host_that_is_given) {
  BOOST_TEST(must_fail(publish({.ports = {must(read_published("9000=80"))}, .all = true}, pod)) ==
             "port 80 of the host cannot lead to the ports 9000 and 80 of the pod: --publish "
             "PORT=HOSTPORT gives one of them another port of the host");
}

BOOST_AUTO_TEST_CASE(the_form_of_podman_and_docker_is_translated) {
  const auto error = [](const char* text) { return must_fail(read_published(text)); };
  BOOST_TEST(error("18083:8080") ==
             "--publish 18083:8080: the port of the pod comes first: --publish 8080=18083");
  BOOST_TEST(error("127.0.0.1:5353:53/udp").ends_with("--publish 53/udp=127.0.0.1:5353"));
  BOOST_TEST(error("[::1]:81:80/tcp").ends_with("--publish 80=[::1]:81"));
  BOOST_TEST(error("8080") ==
             "--publish 8080: the port of the host is missing: --publish 8080=8080 opens the same "
             "number");
  for (const char* other :
       {"8000-8010:8000-8010", "::1:81:80", "81:80/sctp", "host:81:80", "81:web"})
    BOOST_TEST(error(other).contains("must have the form PORT=HOSTPORT"));
}

BOOST_AUTO_TEST_CASE(a_port_may_be_published_twice_and_by_its_number) {
  BOOST_TEST(after({"80=127.0.0.1:8080", "web=[::1]:8081", "53/udp=5353"}) ==
             "127.0.0.1 8080 80/tcp;::1 8081 80/tcp; 5353 53/udp;");
}

BOOST_AUTO_TEST_CASE(a_number_that_no_container_has_is_one_more_port) {
  BOOST_TEST(after({"53=5353"}) == " 5353 53/tcp;");
}

BOOST_AUTO_TEST_CASE(a_port_of_the_host_is_given_once) {
  const Publishing twice{
      .ports = {must(read_published("80=127.0.0.1:8080")), must(read_published("81=[::1]:8080"))}};
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
  BOOST_TEST(must_fail(publish({.ports = {must(read_published("wed=1"))}}, pod)) ==
             "--publish wed: no container has a port of this name (they have web, dns); a number "
             "may be any port");
  for (const char* bad : {"80/sctp=1", "0=1"})
    BOOST_TEST(must_fail(publish({.ports = {must(read_published(bad))}}, pod))
                   .contains("no container has"));
  BOOST_TEST(after({"80/tcp=1"}) == " 1 80/tcp;");
}

BOOST_AUTO_TEST_CASE(each_port_of_the_host_has_the_container_and_the_name_of_its_port) {
  pod.containers[0].name = "app";
  must(publish({.ports = {must(read_published("web=8080")), must(read_published("9000/udp=9001"))}},
               pod));
  const std::vector<PodPort> ports = ports_of(pod);
  BOOST_REQUIRE(ports.size() == 3);
  BOOST_TEST((ports[0].container == &pod.containers[0] && ports[0].name == "web"));
  BOOST_TEST(ports[0].forward.host_port == 8080);
  BOOST_TEST((ports[1].container == nullptr && ports[1].name.empty()));
  BOOST_TEST((ports[2].container == &pod.containers[0] && ports[2].name == "dns"));
  BOOST_TEST((ports[0].is_open && ports[1].is_open && !ports[2].is_open));
}

BOOST_AUTO_TEST_SUITE_END()
