// keeper.json: what `ocirun pod start` needs to adopt a pod.

#include "pods/run/kept_pod.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/record.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(kept_pods)

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  const Digest chain(Digest::Algorithm::kSha256, std::string(64, 'a'));
  KeptPod pod;
  pod.keeper = {.pid = 12, .start_time = 34};
  pod.has_metadata = true;
  pod.locks = 2;
  pod.containers.push_back({.name = "app",
                            .program = "/bin/a \"b\"",
                            .stop_signal = 15,
                            .has_root = true,
                            .layers = {{.chain_id = chain, .directory = "layers/sha256-a"}},
                            .parts = {{.volume = "v",
                                       .source = "/s",
                                       .path = "p",
                                       .may_make = true,
                                       .recursive = false,
                                       .shown_at = "/at"}}});
  must(write_kept_pod(directory, pod));
  const KeptPod read = must(read_kept_pod(directory));
  BOOST_TEST((read.keeper == pod.keeper));
  BOOST_TEST(read.has_metadata);
  BOOST_TEST(read.locks == 2);
  BOOST_REQUIRE(read.containers.size() == 1);
  const KeptContainer& container = read.containers.front();
  BOOST_TEST(container.name == "app");
  BOOST_TEST(container.program == "/bin/a \"b\"");
  BOOST_TEST(container.stop_signal == 15);
  BOOST_TEST(container.has_root);
  BOOST_REQUIRE(container.layers.size() == 1);
  BOOST_TEST((container.layers.front().chain_id == chain));
  BOOST_TEST(container.layers.front().directory == "layers/sha256-a");
  BOOST_REQUIRE(container.parts.size() == 1);
  const SubPath& part = container.parts.front();
  BOOST_TEST(part.volume + part.source + part.path + part.shown_at == "v/sp/at");
  BOOST_TEST(part.may_make);
  BOOST_TEST(!part.recursive);
}

BOOST_AUTO_TEST_CASE(a_pod_without_a_keeper_and_a_file_of_a_newer_version) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  const auto absent = read_kept_pod(directory);
  BOOST_REQUIRE(!absent);
  BOOST_TEST(absent.error().number() == ENOENT);
  must(write_kept_pod(directory, KeptPod{}));
  std::string text = slurp(scratch / "keeper.json");
  text.replace(text.find("\"format\": 1"), 11, "\"format\": 2");
  ignore(scratch.file("keeper.json", text));
  const auto newer = read_kept_pod(directory);
  BOOST_REQUIRE(!newer);
  BOOST_TEST(newer.error().number() == bundle::kNewerRecord);
  BOOST_TEST(newer.error().message().contains("a newer version"));
}

BOOST_AUTO_TEST_SUITE_END()
