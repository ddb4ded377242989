#define BOOST_TEST_MODULE ocirun
#include <boost/make_shared.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/descriptors.hpp"

namespace {

namespace ut = boost::unit_test;

/// A test that leaves a descriptor open fails.
struct ClosesDescriptors : ut::test_unit_fixture {
  void setup() override { before = ocirun::test::open_descriptors(); }
  void teardown() override {
    const std::string leaked = ocirun::test::leaked_since(before);
    BOOST_TEST(leaked.empty(), "descriptors left open:" << leaked);
  }
  ocirun::test::Descriptors before;
};

struct EveryTestCase : ut::test_tree_visitor {
  void visit(const ut::test_case& test) override {
    ut::framework::get<ut::test_case>(test.p_id).p_fixtures.value.push_back(
        boost::make_shared<ClosesDescriptors>());
  }
};

struct DescriptorCheck {
  static void setup() {
    EveryTestCase all;
    ut::traverse_test_tree(ut::framework::master_test_suite(), all);
  }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(DescriptorCheck);
