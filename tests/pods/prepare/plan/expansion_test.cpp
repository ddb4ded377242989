// A small document must not become gigabytes: what no program can be started with is refused while
// it is counted, with its place.

#include "pods/prepare/plan/expansion.hpp"

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>

#include "linux/process/exec_limits.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr std::size_t kLongest = (std::size_t{128} << 10) - 1;

struct ExpansionFixture {
  Pod pod;
  Container container;
  bundle::Node place;

  ExpansionFixture() {
    pod.kind = Kind::kKubernetes;
    container.place = &place;
  }
  void set(const std::string& name, const std::string& value) {
    container.env.push_back({.name = name, .value = value, .place = &place});
  }
  std::string error(Missing missing = Missing::kRefused) const {
    const auto expansion = expand_container(pod, container, {}, missing);
    return expansion ? "" : expansion.error().error.message();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(expansions, ExpansionFixture)

BOOST_AUTO_TEST_CASE(nested_references_end_at_the_longest_string) {
  set("A0", std::string(100, 'x'));
  for (int i = 1; i < 40; ++i) set(fmt::format("A{}", i), fmt::format("$(A{0})$(A{0})", i - 1));
  BOOST_TEST(
      error() ==
      "the variable A11 would have more than 131071 bytes: execve(2) takes no longer string");
}

BOOST_AUTO_TEST_CASE(the_longest_string_passes_and_one_byte_more_does_not) {
  set("A", std::string(kLongest - 2, 'x'));
  container.args = {std::string(kLongest, 'y'), "$(A)yy"};
  BOOST_TEST(error() == "");
  container.args->push_back("$(A)yyy");
  BOOST_TEST(error() ==
             "word 2 of args would have more than 131071 bytes: execve(2) takes no longer string");
  container.args.reset();
  set("AB", std::string(kLongest - 2, 'x'));
  BOOST_TEST(error().starts_with("the variable AB would have more"));
  for (const Kind kind : {Kind::kOam, Kind::kAppc}) {  // without references
    pod.kind = kind;
    container.env.clear();
    container.command = {std::string(kLongest + 1, 'y')};
    BOOST_TEST(error().starts_with("word 0 of command would have more"));
  }
}

OCIRUN_CHILD_TEST(the_sum_is_a_quarter_of_the_stack_and_at_most_6_mib, 0) {
  ExpansionFixture scene;
  scene.set("A", std::string(100'000, 'x'));
  scene.container.args = std::vector<std::string>(100, "$(A)");
  for (const auto& [stack, all] : {std::pair<rlim_t, std::size_t>{8 << 20, 2 << 20},
                                   {64 << 20, 6 << 20},
                                   {RLIM_INFINITY, 6 << 20},
                                   {64 << 10, 128 << 10}}) {
    const rlimit limit{.rlim_cur = stack, .rlim_max = RLIM_INFINITY};
    BOOST_REQUIRE(::setrlimit(RLIMIT_STACK, &limit) == 0);
    BOOST_TEST(linux::ExecLimits::here().all == all);
    BOOST_TEST(scene.error().contains(
        fmt::format("the arguments and variables would take more than {} bytes together", all)));
  }
}

BOOST_AUTO_TEST_CASE(variables_of_sources_count_with_their_prefixes) {
  for (int i = 0; i < 2'000; ++i) pod.key_documents["s"].keys[fmt::format("k{}", i)] = {};
  for (int i = 0; i < 2'000; ++i)
    container.env_sources.push_back({.secret = "s", .prefix = fmt::format("P{}", i)});
  BOOST_TEST(error().contains("the arguments and variables would take more than"));
  container.env_sources.resize(1);
  BOOST_TEST(error() == "");
}

BOOST_AUTO_TEST_CASE(what_is_not_given_yet_is_no_fault) {
  container.env_sources = {{.secret = "s", .prefix = ""}};
  set("A", std::string(kLongest - 2, 'x'));
  container.args = {"$(A)$(OF_THE_SECRET)y"};
  BOOST_TEST(error() == "the secret \"s\" is not given: --secret s=DIR");
  BOOST_TEST(error(Missing::kEmpty) == "");
}

BOOST_AUTO_TEST_CASE(the_containers_of_a_pod_have_a_sum_too) {
  set("A", std::string(100'000, 'x'));
  container.args = std::vector<std::string>(15, "$(A)");
  pod.containers = std::vector<Container>(40, container);
  BOOST_TEST(find_expansion_errors(pod, {}, Missing::kRefused).empty());
  pod.containers.resize(80, container);
  const auto errors = find_expansion_errors(pod, {}, Missing::kRefused);
  BOOST_REQUIRE(errors.size() == 1U);
  BOOST_TEST(errors[0].error.message().contains("take more than 64 MiB"));
}

BOOST_AUTO_TEST_SUITE_END()
