// The specification's own documents, and the 0.5.0-dev example that the project grew from.

#include <dirent.h>

#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(specification_documents, *boost::unit_test::precondition(has_specification))

namespace {

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* stream = ::opendir(directory.c_str());
  BOOST_TEST_REQUIRE(stream != nullptr, directory);
  while (const dirent* entry = ::readdir(stream))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(stream);
  std::ranges::sort(names);
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_good_document_passes) {
  const std::string directory = spec_directory() + "/schema/test/config/good";
  const auto names = files_in(directory);
  BOOST_TEST(names.size() == 9U);
  for (const std::string& name : names) BOOST_TEST_CONTEXT(name) {
      const Parsed parsed =
          parse_config(read_text(directory + "/" + name), kBundle, UnknownNames::kTold);
      BOOST_TEST(parsed.config.has_value());
      for (const std::string& problem : parsed.problems) BOOST_ERROR(problem);
      for (const std::string& warning : parsed.warnings)
        BOOST_TEST(!warning.contains("unknown"), warning);
    }
}

BOOST_AUTO_TEST_CASE(good_fragments_that_would_change_the_host_are_not_run) {
  const std::string directory = spec_directory() + "/schema/test/config/good/";
  for (const auto& [name, pointer] : {std::pair("linux-netdevice.json", "/linux/netDevices: "),
                                      std::pair("zos-example.json", "/hostname: ")}) {
    Parsed parsed = parse_config(read_text(directory + name), kBundle);
    const auto config = std::move(parsed).take();
    BOOST_TEST_REQUIRE(!config.has_value());
    BOOST_TEST(config.error().message().starts_with(std::string("config.json: ") + pointer));
  }
}

BOOST_AUTO_TEST_CASE(every_bad_document_fails_with_one_clear_error) {
  const std::string directory = spec_directory() + "/schema/test/config/bad";
  constexpr Mistake kExpected[] = {
      {"invalid-json.json", "the document", "line 1, column 2"},
      {"linux-hugepage.json", "/linux/resources/hugepageLimits/0/pageSize", "\"64kB\""},
      {"linux-netdevice.json", "/linux/netDevices/eth0/name", "must be a string, not 23"},
      {"linux-rdma.json", "/linux/resources/rdma/mlx5_1/hcaHandles", "must be a whole number"},
  };
  for (const Mistake& expected : kExpected) BOOST_TEST_CONTEXT(expected.patch)
  check_one_problem(
      parse_config(read_text(directory + "/" + std::string(expected.patch)), kBundle).problems,
      expected);
  // This document is bad on FreeBSD only. On Linux, its object `freebsd` has no effect.
  const Parsed freebsd = parse_config(read_text(directory + "/freebsd-vnet-disable.json"), kBundle);
  BOOST_TEST(freebsd.config.has_value());
  BOOST_TEST(freebsd.warnings.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_0_5_0_dev_example_parses_as_it_is) {  // SD
  Parsed parsed = parse_config(read_text(spec_directory() + "/seed-0.5.0-dev-example.json"),
                               kBundle, UnknownNames::kTold);
  for (const std::string& problem : parsed.problems) BOOST_ERROR(problem);
  BOOST_TEST(parsed.warnings.empty());
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  const Config& config = *parsed.config;
  BOOST_TEST((config.edition == Edition::kLegacy05));
  BOOST_TEST(*config.process->oom_score_adj == 100);
  BOOST_TEST(config.mounts.size() == 7U);
  BOOST_TEST(config.mounts[1].data.size() == 2U);
  BOOST_TEST(!config.hooks.of(hooks::Kind::kPrestart)[1].env.has_value());
  BOOST_TEST((config.id_map.uids == std::vector{linux::IdMapping{0, 1000, 32000}}));
  BOOST_TEST(config.resources->block_io->write_iops[0].rate == 300U);
  BOOST_TEST(*config.resources->cpu->realtime_period == 1000000U);
  BOOST_TEST(config.seccomp->rules[0].names[0] == "getcwd");
  BOOST_TEST((config.rootfs_propagation == linux::Propagation::kSlave));
}

BOOST_AUTO_TEST_CASE(upgrading_the_0_5_0_dev_example_gives_the_golden_document) {
  const auto upgraded =
      upgrade_document(read_text(spec_directory() + "/seed-0.5.0-dev-example.json"));
  BOOST_TEST_REQUIRE(upgraded.has_value());
  const auto golden =
      nlohmann::json::parse(read_text(spec_directory() + "/seed-0.5.0-dev-example.upgraded.json"));
  const auto difference = nlohmann::json::diff(golden, nlohmann::json::parse(*upgraded));
  BOOST_TEST(difference.empty(), difference.dump());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
