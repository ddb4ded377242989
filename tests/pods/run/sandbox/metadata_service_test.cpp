#include "pods/run/sandbox/metadata_service.hpp"

#include <boost/test/unit_test.hpp>

#include "linux/base/text.hpp"
#include "linux/network/interfaces.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"

namespace ocirun::pods {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(metadata_service)

std::uint16_t port_of(const MetadataService& service) {
  const std::string url = service.url();
  std::string_view rest(url);
  rest.remove_prefix(std::string_view("http://127.0.0.1:").size());
  return linux::number<std::uint16_t>(linux::cut(rest, '/')).value_or(0);
}

BOOST_AUTO_TEST_CASE(each_pod_has_an_address_and_an_identity_of_its_own) {  // AC-22
  const MetadataService one = must(MetadataService::listen(Fd{-1}, {}));
  const MetadataService two = must(MetadataService::listen(Fd{-1}, {}));
  BOOST_TEST(port_of(one) != port_of(two));
  BOOST_TEST(one.uuid() != two.uuid());
  BOOST_TEST(one.uuid().size() == 36U);
  BOOST_TEST(one.uuid()[14] == '4');
  const std::string token = one.url().substr(one.url().rfind('/') + 1);
  BOOST_TEST(token.size() == 64U);
  BOOST_TEST(two.url().find(token) == std::string::npos);
}

OCIRUN_CHILD_TEST(a_port_of_the_document_is_left_to_the_apps, CLONE_NEWNET) {  // AC-22
  must(linux::bring_loopback_up());
  test::detail::write_file("/proc/sys/net/ipv4/ip_local_port_range", "40000 40001");
  for (const std::uint16_t taken : {std::uint16_t{40000}, std::uint16_t{40001}}) {
    const MetadataService service = must(MetadataService::listen(Fd{-1}, {taken}));
    BOOST_TEST(port_of(service) == 80001 - taken);
  }
  BOOST_TEST(!MetadataService::listen(Fd{-1}, {40000, 40001}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
