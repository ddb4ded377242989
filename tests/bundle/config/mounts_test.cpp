#include <linux/mount.h>

#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(mounts)

namespace {

linux::Mount mount_of(std::string_view mount) {
  Config config = config_of(fmt::format(R"({{"mounts": [{}]}})", mount));
  BOOST_TEST_REQUIRE(config.mounts.size() == 1U);
  return config.mounts[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_order_of_the_list_is_kept) {  // M-1
  const Config config = config_of(R"({"mounts": [
    {"destination": "/z/y", "type": "tmpfs"}, {"destination": "/a", "type": "tmpfs"},
    {"destination": "/z", "type": "tmpfs"}]})");
  BOOST_TEST(config.mounts[0].destination.string() == "/z/y");
  BOOST_TEST(config.mounts[1].destination.string() == "/a");
  BOOST_TEST(config.mounts[2].destination.string() == "/z");
}

BOOST_AUTO_TEST_CASE(a_relative_destination_starts_at_the_root_and_is_warned_about) {  // M-2
  const Parsed parsed = parse_patched(R"({"mounts": [{"destination": "data", "type": "tmpfs"}]})");
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  BOOST_TEST(parsed.config->mounts[0].destination.string() == "/data");
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings[0].starts_with("/mounts/0: destination \"data\" is relative"));
}

BOOST_AUTO_TEST_CASE(a_relative_bind_source_is_joined_to_the_bundle) {  // M-3
  const auto source = [](std::string_view text) {
    return mount_of(fmt::format(R"({{"destination": "/d", "source": "{}", "options": ["rbind"]}})",
                                text))
        .source;
  };
  BOOST_TEST(source("data") == "/bundles/web1/data");
  BOOST_TEST(source("./a//b") == "/bundles/web1/a/b");
  BOOST_TEST(source("/srv/data") == "/srv/data");
  const auto tmpfs = mount_of(R"({"destination": "/d", "type": "tmpfs", "source": "tmpfs"})");
  BOOST_TEST(tmpfs.source == "tmpfs");
}

BOOST_AUTO_TEST_CASE(an_option_makes_a_bind_mount_whatever_the_type) {  // M-4
  for (const char* type : {"none", "bind", "ext4", ""}) {
    const auto mount = mount_of(fmt::format(
        R"({{"destination": "/d", "type": "{}", "source": "/s", "options": ["rbind", "ro"]}})",
        type));
    BOOST_TEST(mount.bind);
    BOOST_TEST(mount.recursive);
    BOOST_TEST(mount.type == "");
    BOOST_TEST((mount.attributes.set & MOUNT_ATTR_RDONLY) != 0U);
  }
}

BOOST_AUTO_TEST_CASE(mistakes_in_mounts) {  // M-2 … M-8
  constexpr Mistake kMistakes[] = {
      {R"({"mounts": [{"type": "tmpfs"}]})", "/mounts/0/destination", "is missing"},
      {R"({"mounts": [{"destination": "", "type": "tmpfs"}]})", "/mounts/0/destination",
       "must not be empty"},
      {R"({"mounts": [{"destination": "/a", "options": ["bind"]}]})", "/mounts/0/source",
       "a bind mount needs the path that it binds"},
      {R"({"mounts": [{"destination": "/a", "type": "bind", "source": "/b"}]})", "/mounts/0/type",
       "type \"bind\" needs option \"bind\" or \"rbind\""},
      {R"({"mounts": [{"destination": "/a", "source": "/b"}]})", "/mounts/0/type", "is missing"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["ro", "size=1k", "bind"]}]})",
       "/mounts/0/options/1", "a bind mount takes no filesystem-specific option, and \"size=1k\""},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind", "Read-Only"]}]})",
       "/mounts/0/options/1",
       "\"Read-Only\" is none of the known mount options (did you mean ro?)"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind", "nosiud"]}]})",
       "/mounts/0/options/1",
       "\"nosiud\" is none of the known mount options (did you mean nosuid?)"},
      {R"({"mounts": [{"destination": "/a", "type": "tmpfs", "options": "ro"}]})",
       "/mounts/0/options", "must be a list"},
      {R"({"mounts": [{"destination": "/a", "type": "proc", "options": ["tmpcopyup"]}]})",
       "/mounts/0/options", "tmpcopyup needs type \"tmpfs\", not \"proc\""},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind"],
           "uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}]})",
       "/mounts/0/gidMappings", "are given together"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind"],
           "uidMappings": [], "gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}]})",
       "/mounts/0/uidMappings", "must hold a mapping"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind"],
           "uidMappings": [{"containerID": 0, "hostID": 1}],
           "gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}]})",
       "/mounts/0/uidMappings/0/size", "is missing"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind"],
           "uidMappings": [{"containerID": 0, "hostID": 1, "size": 0}],
           "gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}]})",
       "/mounts/0/uidMappings", "size"},
      {R"({"mounts": [{"destination": "/a", "source": "/b", "options": ["bind", "ridmap"]}]})",
       "/mounts/0/options", "has no user namespace"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(both_forms_of_id_mapped_mounts) {  // M-8
  const auto own = mount_of(R"({"destination": "/a", "source": "/b", "options": ["rbind", "ridmap"],
    "uidMappings": [{"hostID": 1000, "containerID": 0, "size": 10}],
    "gidMappings": [{"containerID": 0, "hostID": 2000, "size": 20}]})");
  BOOST_TEST((own.id_map_kind == linux::IdMapKind::kRecursive));
  BOOST_TEST((own.id_map.uids == std::vector{linux::IdMapping{0, 1000, 10}}));
  BOOST_TEST((own.id_map.gids == std::vector{linux::IdMapping{0, 2000, 20}}));

  const auto without_word = mount_of(R"({"destination": "/a", "source": "/b", "options": ["bind"],
    "uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}],
    "gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]})");
  BOOST_TEST((without_word.id_map_kind == linux::IdMapKind::kMount));

  const Config of_container = config_of(R"({
    "mounts": [{"destination": "/a", "source": "/b", "options": ["bind", "idmap"]}],
    "process": {"user": {"uid": 0, "gid": 0}},
    "linux": {"namespaces": [{"type": "user"}, {"type": "uts"}, {"type": "mount"}],
              "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}],
              "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}]}})");
  BOOST_TEST((of_container.mounts[0].id_map_kind == linux::IdMapKind::kMount));
  BOOST_TEST(of_container.mounts[0].id_map.empty());
}

BOOST_AUTO_TEST_CASE(every_option_of_the_specification_is_known) {  // table 1.2
  constexpr std::string_view kOptions[] = {
      "async",         "atime",       "bind",         "defaults",    "dev",
      "diratime",      "dirsync",     "exec",         "iversion",    "lazytime",
      "loud",          "mand",        "noatime",      "nodev",       "nodiratime",
      "noexec",        "noiversion",  "nolazytime",   "nomand",      "norelatime",
      "nostrictatime", "nosuid",      "nosymfollow",  "private",     "rprivate",
      "shared",        "rshared",     "slave",        "rslave",      "unbindable",
      "runbindable",   "ratime",      "rdev",         "rdiratime",   "rexec",
      "rnoatime",      "rnodiratime", "rnoexec",      "rnorelatime", "rnostrictatime",
      "rnosuid",       "rrelatime",   "rro",          "rrw",         "rstrictatime",
      "rsuid",         "rnodev",      "rnosymfollow", "rsymfollow",  "rbind",
      "relatime",      "remount",     "ro",           "rw",          "silent",
      "strictatime",   "suid",        "symfollow",    "sync",        "tmpcopyup",
      "idmap",         "ridmap"};
  static_assert(std::size(kOptions) == 62);
  const auto known = linux::known_mount_options();
  for (const std::string_view option : kOptions) BOOST_TEST_CONTEXT(option) {
      BOOST_TEST((std::ranges::find(known, option) != known.end()));
      const auto mount = mount_of(fmt::format(
          R"({{"destination": "/a", "type": "tmpfs", "source": "/s", "options": ["{}"],
              "uidMappings": [{{"containerID": 0, "hostID": 1, "size": 1}}],
              "gidMappings": [{{"containerID": 0, "hostID": 1, "size": 1}}]}})",
          option));
      BOOST_TEST(mount.data.empty());
    }
}

BOOST_AUTO_TEST_CASE(unknown_options_go_to_the_filesystem_in_their_order) {  // M-6
  const auto mount = mount_of(R"({"destination": "/a", "type": "overlay", "source": "overlay",
    "options": ["lowerdir=/l", "ro", "upperdir=/u", "", "noacl", "workdir=/w"]})");
  const std::vector<std::string> expected{"lowerdir=/l", "upperdir=/u", "noacl", "workdir=/w"};
  BOOST_TEST(mount.data == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mounts_without_a_mount_namespace_are_warned_about) {  // L-4
  const Parsed parsed = parse_patched(R"({"linux": {"namespaces": [{"type": "uts"}]}})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings[0].starts_with("/mounts: without a mount namespace"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
