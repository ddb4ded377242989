#include <boost/test/unit_test.hpp>

#include "pods/documents/model/device_names.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(names_of_devices)

BOOST_AUTO_TEST_CASE(a_kind_has_a_vendor_and_a_class) {
  for (const std::string& kind : {std::string("vendor.com/gpu"), std::string("a/b"),
                                  std::string("foo.bar.baz/foo-bar123.B_az"),
                                  "v/" + std::string(63, 'c'), std::string(253, 'v') + "/c"})
    BOOST_TEST(is_device_kind(kind));
  for (const std::string& text :
       {std::string("foo"), std::string("vendor.com/foo/"), std::string("vendor.com/foo/bar"),
        std::string("/gpu"), std::string("1vendor/gpu"), std::string("vendor/1gpu"),
        std::string("vendor-/gpu"), std::string("vendor/gp u"), std::string("vendor/gpu=0"),
        std::string(""), "v/" + std::string(64, 'c'), std::string(254, 'v') + "/c"})
    BOOST_TEST(!is_device_kind(text));
  BOOST_TEST(class_of_kind("vendor.com/gpu") == "gpu");
}

BOOST_AUTO_TEST_CASE(a_device_may_have_a_container_in_front) {
  const NamedDevice plain = must(parse_device("vendor.com/gpu=0:1"));
  BOOST_TEST((plain.container.empty() && plain.kind == "vendor.com/gpu" && plain.name == "0:1"));
  const NamedDevice own = must(parse_device("app:vendor.com/gpu=all"));
  BOOST_TEST((own.container == "app" && own.kind == "vendor.com/gpu" && own.name == "all"));
  for (const char* text :
       {"", "gpu", "vendor.com/gpu", "vendor.com/gpu=", "gpu=0", "vendor.com/gpu=-a", "a/b=c d",
        "/dev/zero", "/dev/zero:/dev/a", ":vendor.com/gpu=0", "vendor.com/gpu=a\n"})
    BOOST_TEST(must_fail(parse_device(text)).contains(text));
}

BOOST_AUTO_TEST_CASE(numbers_in_names_compare_as_numbers) {
  const char* const kOrdered[] = {"0",     "1",    "2",     "10",   "GPU-a",
                                  "GPU-b", "a1:2", "a1:10", "a01x", "a2"};
  for (std::size_t i = 0; i + 1 < std::size(kOrdered); ++i)
    BOOST_TEST((compare_device_names(kOrdered[i], kOrdered[i + 1]) < 0),
               kOrdered[i] << " comes before " << kOrdered[i + 1]);
  BOOST_TEST((compare_device_names("a", "a") == 0));
  BOOST_TEST((compare_device_names("01", "1") < 0));
  BOOST_TEST((compare_device_names("1", "01") > 0));
}

BOOST_AUTO_TEST_SUITE_END()
