// Manifests that name places beside their registry.

#include "pods/images/registry/other_places.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string refusal(const char* text) {
  const auto checked = check_no_other_places("manifest", text);
  return checked ? "" : checked.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(other_places)

BOOST_AUTO_TEST_CASE(a_place_of_any_descriptor_is_refused_with_its_pointer) {
  BOOST_TEST(refusal(R"({"config": {"urls": ["http://h/"]}})")
                 .starts_with("manifest: /config/urls: names places beside the registry"));
  BOOST_TEST(refusal(R"({"layers": [{}, {"urls": ["http://h/"]}]})").contains("/layers/1/urls: "));
  BOOST_TEST(refusal(R"({"Config": {"urls": ["http://h/"]}})").contains("/Config/urls: "));
}

BOOST_AUTO_TEST_CASE(a_name_that_go_takes_for_urls_is_refused) {
  for (const char* name : {"URLS", "Urls", "url\u017f", "uRL\u017f"})
    BOOST_TEST(!refusal(fmt::format(R"({{"config": {{"{}": ["x"]}}}})", name).c_str()).empty(),
               name);
}

BOOST_AUTO_TEST_CASE(what_names_no_place_is_taken) {
  for (const char* text :
       {R"({"config": {"urls": []}})", R"({"config": {"urls": null}})",
        R"({"annotations": {"urls": "a text"}})", R"({"config": {"url": ["x"]}})",
        R"({"config": {"urlss": ["x"]}, "layers": ["urls"]})"})
    BOOST_TEST(refusal(text) == "", text);
}

BOOST_AUTO_TEST_SUITE_END()
