#include "pods/prepare/files.hpp"

#include <sys/stat.h>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// Shows a directory with a resolv.conf of `text` as /etc, in the test's own mount namespace.
void cover_etc(const Scratch& scratch, const std::string& text) {
  scratch.file("resolv.conf", text);
  test::detail::check(
      ::syscall(SYS_mount, scratch.path().c_str(), "/etc", nullptr, 1UL << 12, nullptr) == 0,
      "bind /etc");
}

std::string resolver(Network network, const std::string& text) {
  const Scratch etc, pod;
  cover_etc(etc, text);
  const UniqueFd directory = pod.open();
  must(write_network_files("shop", network, directory, pod.path()));
  return slurp(pod / "etc/resolv.conf");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files_of_a_pod)

BOOST_AUTO_TEST_CASE(config_files_have_the_value_or_the_parameter) {  // OAM-16
  const Scratch scratch;
  Container container;
  container.config_files = {
      {.path = "/etc/one", .value = "first", .parameter = {}, .place = nullptr},
      {.path = "/etc/two", .value = "unused", .parameter = "p", .place = nullptr}};
  Given given;
  given.bindings.parameters = {{"p", ""}};
  const UniqueFd directory = scratch.open();
  const auto bound = must(write_config_files(container, given, directory, scratch.path()));
  BOOST_REQUIRE(bound.size() == 2u);
  BOOST_TEST(slurp(bound[0].source) == "first");
  BOOST_TEST(slurp(bound[1].source) == "");
  BOOST_TEST(bound[0].destination == "/etc/one");
  BOOST_TEST((bound[0].read_only && bound[1].read_only));
  BOOST_TEST(mode_of(bound[0].source) == 0644);    // whatever user the program has
  BOOST_TEST(mode_of(scratch / "files") == 0700);  // but nobody else on the host
}

BOOST_AUTO_TEST_CASE(config_files_of_one_content_are_one_file) {
  const Scratch scratch;
  Container container;
  for (int i = 0; i < 100; ++i)
    container.config_files.push_back(
        {.path = fmt::format("/etc/{}", i), .value = {}, .parameter = "p", .place = nullptr});
  Given given;
  given.bindings.parameters = {{"p", "value"}};
  const UniqueFd directory = scratch.open();
  const auto bound = must(write_config_files(container, given, directory, scratch.path()));
  BOOST_REQUIRE(bound.size() == 100U);
  BOOST_TEST(slurp(bound[99].source) == "value");
  BOOST_TEST(bound[99].source == bound[0].source);
  BOOST_TEST(bound[99].destination == "/etc/99");
}

BOOST_AUTO_TEST_CASE(a_container_without_config_files_gets_no_directory) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  BOOST_TEST(must(write_config_files({}, {}, directory, scratch.path())).empty());
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(hosts_and_hostname_name_the_pod) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  const auto bound = must(write_network_files("shop", Network::kHost, directory, scratch.path()));
  BOOST_TEST(bound.size() == 3u);
  BOOST_TEST(slurp(scratch / "etc/hostname") == "shop\n");
  BOOST_TEST(slurp(scratch / "etc/hosts").contains("127.0.1.1\tshop\n"));
  for (const BoundPath& file : bound) {
    BOOST_TEST(file.source == scratch.path() + file.destination);
    BOOST_TEST(!file.read_only);
  }
}

OCIRUN_CHILD_TEST(servers_at_loopback_addresses_are_of_the_host_alone, CLONE_NEWNS) {  // KN-9
  const std::string text =
      "search example.com\nnameserver 127.0.0.53\nnameserver 192.0.2.1\nnameserver ::1\n";
  BOOST_TEST(resolver(Network::kOwn, text) == "search example.com\nnameserver 192.0.2.1\n");
}

OCIRUN_CHILD_TEST(the_hosts_network_has_the_hosts_servers, CLONE_NEWNS) {
  BOOST_TEST(resolver(Network::kHost, "nameserver 127.0.0.53\n") == "nameserver 127.0.0.53\n");
}

BOOST_AUTO_TEST_SUITE_END()
