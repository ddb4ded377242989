#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {
namespace {

const linux::IdMap kOneId{.uids = {{0, 1000, 1}}, .gids = {{0, 1001, 1}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(default_config)

BOOST_AUTO_TEST_CASE(it_is_right_in_our_own_eyes) {
  for (const auto& own_map : {std::optional<linux::IdMap>(), std::optional(kOneId)})
    for (const bool cgroup_v2 : {false, true}) {
      Parsed parsed = parse_config(default_config_text(own_map, cgroup_v2), kBundle);
      BOOST_TEST(parsed.problems.empty());
      BOOST_TEST(parsed.warnings.empty());
      BOOST_TEST(std::move(parsed).take().has_value());
    }
}

BOOST_AUTO_TEST_CASE(it_holds_what_people_expect_of_it) {
  const auto document = nlohmann::json::parse(default_config_text(std::nullopt, false));
  BOOST_TEST(document["process"]["terminal"] == true);
  BOOST_TEST(document["process"]["args"] == nlohmann::json({"sh"}));
  BOOST_TEST(document["process"]["cwd"] == "/");
  BOOST_TEST(document["root"]["path"] == "rootfs");
  BOOST_TEST(document.contains("hostname"));
  BOOST_TEST(document["mounts"].size() == 7U);
  BOOST_TEST(document["mounts"][6]["type"] == "cgroup");
  const auto& options = document["mounts"][6]["options"];
  BOOST_TEST((std::ranges::find(options, nlohmann::json("ro")) != options.end()));
  BOOST_TEST(document["linux"]["resources"]["devices"] ==
             nlohmann::json::parse(R"([{"allow": false, "access": "rwm"}])"));
  BOOST_TEST(
      document["linux"]["namespaces"] ==
      nlohmann::json::parse(
          R"([{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}])"));
  BOOST_TEST(!document["linux"]["maskedPaths"].empty());
  BOOST_TEST(!document["linux"]["readonlyPaths"].empty());
  const auto v2 = nlohmann::json::parse(default_config_text(std::nullopt, true));
  BOOST_TEST(v2["linux"]["namespaces"].back()["type"] == "cgroup");
}

BOOST_AUTO_TEST_CASE(without_privileges_one_id_is_mapped_and_the_hosts_network_used) {
  const Config config = *parse_config(default_config_text(kOneId, true), kBundle).config;
  BOOST_TEST((config.id_map.uids == std::vector{linux::IdMapping{0, 1000, 1}}));
  BOOST_TEST((config.id_map.gids == std::vector{linux::IdMapping{0, 1001, 1}}));
  BOOST_TEST(config.namespaces.creates(linux::NamespaceKind::kUser));
  BOOST_TEST(!config.namespaces.contains(linux::NamespaceKind::kNetwork));
  BOOST_TEST(!config.resources.has_value());
  for (const linux::Mount& mount : config.mounts) {
    for (const std::string& option : mount.data) BOOST_TEST(!option.starts_with("gid="));
    if (mount.destination.string() == "/sys") BOOST_TEST((mount.bind && mount.recursive));
  }
}

BOOST_AUTO_TEST_CASE(with_subordinate_ids_they_are_mapped_and_terminals_have_their_group) {
  linux::IdMap lent = kOneId;
  lent.uids.push_back({1, 100000, 65536});
  lent.gids.push_back({1, 200000, 65536});
  const Config config = *parse_config(default_config_text(lent, true), kBundle).config;
  BOOST_TEST((config.id_map == lent));
  const auto pts = std::ranges::find(config.mounts, "devpts", &linux::Mount::type);
  BOOST_REQUIRE((pts != config.mounts.end()));
  BOOST_TEST((std::ranges::find(pts->data, "gid=5") != pts->data.end()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
