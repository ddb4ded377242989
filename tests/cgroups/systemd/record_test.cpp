#include <boost/test/unit_test.hpp>

#include "cgroups/open_cgroup.hpp"

using namespace ocirun::cgroups;

namespace {

std::string refusal(const std::string& path, const std::string& unit) {
  const auto cgroup = open_cgroup({.path = path,
                                   .directories = {{"", "/x" + path}},
                                   .created_parents = {},
                                   .handed_down = {},
                                   .unit = unit});
  return cgroup ? "" : cgroup.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(systemd_record)

BOOST_AUTO_TEST_CASE(a_forged_record_names_no_unit_but_the_scope_of_its_cgroup)
{
  for (const char* unit : {"sshd.service", "b.service", "a.slice", "other.scope", ".scope"})
    BOOST_TEST(refusal("/a.slice/b.scope", unit).contains("is not the unit of the cgroup"), unit);
  BOOST_TEST(refusal("/a.slice/b.service", "b.service").contains("is not the unit"));
}

BOOST_AUTO_TEST_SUITE_END()
