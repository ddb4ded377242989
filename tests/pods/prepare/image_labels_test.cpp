// The labels that an App Container manifest gives an image, compared with the image (AC-6).

#include "pods/prepare/image_labels.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

struct Fixture {
  ImageConfig image;
  Fixture() { image.platform = {"linux", "arm64", "v8"}; }

  static Workload document(const std::string& label, const std::string& value) {
    return read_workload("f", R"({"acVersion": "0.8.0", "acKind": "PodManifest",
"apps": [{"name": "one", "image": {"id": "x", "labels": [{"name": "other", "value": "o"},
{"name": ")" + label + R"(", "value": ")" +
                                  value + R"("}]}}]})");
  }
  std::string fault(const std::string& label, const std::string& value) const {
    const Workload workload = document(label, value);
    const auto checked = check_image_labels(workload, workload.pod.containers.at(0), image);
    return checked ? "" : checked.error().message();
  }
  std::string unchecked(const std::string& label, const std::string& value) const {
    const Workload workload = document(label, value);
    return lines(unchecked_image_labels(workload, workload.pod.containers.at(0), image));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(labels_of_an_image, Fixture)

BOOST_AUTO_TEST_CASE(one_that_differs_is_an_error_with_its_place) {
  BOOST_TEST(fault("os", "linux") == "");
  BOOST_TEST(fault("os", "freebsd") ==
             "f:3:25: /apps/0/image/labels/1/value: the label \"os\" is \"freebsd\", but the image "
             "of the app \"one\" says \"linux\": --image one=SOURCE names another image, or "
             "correct the label");
  BOOST_TEST(fault("arch", "amd64")
                 .contains("the label \"arch\" is \"amd64\", but the image of the app \"one\" says "
                           "\"arm64/v8\""));
}

BOOST_AUTO_TEST_CASE(an_architecture_is_known_by_both_names) {
  for (const char* name : {"aarch64", "arm64", "arm64/v8"}) BOOST_TEST(fault("arch", name) == "");
  for (const char* name : {"aarch64_be", "armv7l", "sparc", ""})
    BOOST_TEST(fault("arch", name) != "");
  image.platform = {"linux", "arm", "v7"};
  BOOST_TEST(fault("arch", "armv7l") == "");
  BOOST_TEST(fault("arch", "armv6l") != "");
  image.platform = {"linux", "386", ""};
  BOOST_TEST(fault("arch", "i386") == "");
}

BOOST_AUTO_TEST_CASE(a_version_is_that_of_a_label_of_the_image) {
  BOOST_TEST(fault("version", "1.0") == "");
  BOOST_TEST(unchecked("version", "1.0")
                 .contains("f:3:30: /apps/0/image/labels/1/value: the label \"version\" is not "
                           "compared, because the "
                           "image has no label \"org.opencontainers.image.version\""));
  image.config.labels["version"] = "1.0";
  BOOST_TEST(fault("version", "1.0") == "");
  image.config.labels["org.opencontainers.image.version"] = "2.0";
  BOOST_TEST(fault("version", "1.0")
                 .contains("is \"1.0\", but the image of the app \"one\" says "
                           "\"2.0\""));
  BOOST_TEST(!unchecked("version", "1.0").contains("\"version\""));
}

BOOST_AUTO_TEST_CASE(other_labels_are_those_of_the_image) {
  BOOST_TEST(unchecked("channel", "beta").contains("the label \"channel\" is not compared"));
  image.config.labels = {{"channel", "beta"}, {"other", "p"}};
  BOOST_TEST(fault("channel", "beta").contains("\"other\" is \"o\""));
  BOOST_TEST(!fault("channel", "beta").contains("channel"));
  BOOST_TEST(fault("channel", "alpha").contains("\"channel\" is \"alpha\""));
}

BOOST_AUTO_TEST_SUITE_END()
