#include "pods/prepare/plan/network_files.hpp"

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

BOOST_AUTO_TEST_SUITE(network_files)

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
