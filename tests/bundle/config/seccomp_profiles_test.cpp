#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <random>

#include "tests/bundle/config/documents.hpp"
#include "tests/linux/seccomp/against_libseccomp.hpp"

using namespace ocirun;
using namespace ocirun::bundle;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(seccomp_profiles)

// Compares the answers for every system call number below 600, and its x32 variant, on every
// architecture.
BOOST_AUTO_TEST_CASE(the_engines_profiles_mean_what_libseccomp_makes_of_them,
                     *boost::unit_test::label("exhaustive")) {  // S-1 … S-11
  std::mt19937 random(1);
  int profiles = 0;
  for (const auto& file : std::filesystem::directory_iterator(OCIRUN_TEST_DATA)) {
    if (file.path().extension() != ".json") continue;
    Parsed parsed = parse_config(read_text(file.path()), kBundle);
    BOOST_TEST_CONTEXT(file.path()) {
      BOOST_TEST_REQUIRE(parsed.config.has_value());
      if (!parsed.config->seccomp) continue;
      ++profiles;
      for (const std::uint32_t architecture : kComparedArchitectures)
        BOOST_TEST(wrong_answer(*parsed.config->seccomp,
                                {.architecture = architecture, .all_below = 600}, random)
                       .value_or("") == "");
      std::vector<std::string> warnings;
      BOOST_TEST(compile_seccomp(*parsed.config->seccomp, warnings).has_value());
      for (const std::string& warning : warnings)
        BOOST_TEST(warning.contains("does not know"), warning);  // newer calls alone
    }
  }
  BOOST_TEST(profiles >= 3);
}

BOOST_AUTO_TEST_SUITE_END()
