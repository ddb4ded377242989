#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(namespaces_section)

using linux::NamespaceKind;

namespace {

/// A patch of `linux` with all eight namespaces, id mappings and these members.
std::string with_all_namespaces(std::string_view members) {
  return fmt::format(R"({{"process": {{"user": {{"uid": 0, "gid": 0}}}}, "linux": {{
    "namespaces": [{{"type": "pid"}}, {{"type": "network"}}, {{"type": "ipc"}}, {{"type": "uts"}},
      {{"type": "mount"}}, {{"type": "cgroup"}}, {{"type": "time"}}, {{"type": "user"}}],
    "uidMappings": [{{"containerID": 0, "hostID": 1000, "size": 10}}],
    "gidMappings": [{{"containerID": 0, "hostID": 1000, "size": 10}}]{}{}}}}})",
                     members.empty() ? "" : ", ", members);
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_eight_namespaces_arrive) {  // L-1, L-2, L-4
  const Config config = config_of(with_all_namespaces(""));
  for (const NamespaceKind kind : linux::kNamespaceKinds)
    BOOST_TEST(config.namespaces.creates(kind));
  const Config joined = config_of(R"({"linux": {"namespaces": [
    {"type": "uts", "path": ""}, {"type": "mount"}, {"type": "network", "path": "/run/netns/a"}]}})");
  BOOST_TEST(joined.namespaces.creates(NamespaceKind::kUts));
  BOOST_TEST(joined.namespaces.joins(NamespaceKind::kNetwork));
  BOOST_TEST(joined.namespaces.find(NamespaceKind::kNetwork)->path->string() == "/run/netns/a");
  BOOST_TEST(!joined.namespaces.contains(NamespaceKind::kPid));
}

BOOST_AUTO_TEST_CASE(a_duplicate_namespace_is_refused_with_its_pointer) {  // L-5
  constexpr Mistake kMistakes[] = {{R"({"linux": {"namespaces": [{"type": "uts"}, {"type": "mount"},
          {"type": "uts", "path": "/proc/1/ns/uts"}]}})",
                                    "/linux/namespaces/2/type",
                                    "the uts namespace is listed twice"}};
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(mistakes_in_namespaces) {  // L-1, L-3
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"namespaces": [{"type": "utss"}]}})", "/linux/namespaces/0/type",
       "unknown namespace type \"utss\" (did you mean uts?)"},
      {R"({"linux": {"namespaces": [{"type": "net"}]}})", "/linux/namespaces/0/type",
       "(known: user, cgroup, ipc, uts, network, pid, time, mount)"},
      {R"({"linux": {"namespaces": [{}]}})", "/linux/namespaces/0/type", "is missing"},
      {R"({"linux": {"namespaces": [{"type": "uts"}, {"type": "network", "path": "netns/a"}]}})",
       "/linux/namespaces/1/path", "must be an absolute path"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(mistakes_in_id_mappings) {  // L-9
  const std::string user_only = R"({"linux": {"namespaces": [{"type": "user"}, {"type": "uts"},
    {"type": "mount"}], "gidMappings": [{"containerID": 0, "hostID": 1, "size": 65536}]}})";
  const Mistake mistakes[] = {
      {R"({"linux": {"uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}})",
       "/linux/uidMappings", "needs a user namespace"},
      {R"({"linux": {"gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}})",
       "/linux/gidMappings", "needs a user namespace"},
      {user_only, "/linux/uidMappings", "is missing: a new user namespace needs"},
      {R"({"linux": {"uidMappings": [{"containerID": 0, "size": 1}]}})",
       "/linux/uidMappings/0/hostID", "is missing"},
      {R"({"linux": {"uidMappings": [{"containerID": 0, "hostID": 4294967296, "size": 1}]}})",
       "/linux/uidMappings/0/hostID", "from 0 to 4294967295"},
      {R"({"linux": {"uidMappings": [{"containerID": 0, "hostID": 1, "size": 2},
                                     {"containerID": 1, "hostID": 9, "size": 2}]}})",
       "/linux/uidMappings", "overlap"},
  };
  check_mistakes(mistakes);
}

BOOST_AUTO_TEST_CASE(a_user_namespace_by_path_may_come_with_or_without_mappings) {  // L-10
  constexpr std::string_view kAccepted[] = {
      R"({"linux": {"namespaces": [{"type": "user", "path": "/proc/7/ns/user"}, {"type": "uts"},
          {"type": "mount"}]}})",
      R"({"linux": {"namespaces": [{"type": "user", "path": "/proc/7/ns/user"}, {"type": "uts"},
          {"type": "mount"}], "uidMappings": [{"containerID": 0, "hostID": 5, "size": 65536}],
          "gidMappings": [{"hostID": 5, "containerID": 0, "size": 65536}]}})"};
  check_accepted(kAccepted);
}

BOOST_AUTO_TEST_CASE(time_offsets_need_a_new_time_namespace) {  // L-12
  const Config config = config_of(with_all_namespaces(
      R"("timeOffsets": {"monotonic": {"secs": -172800}, "boottime": {"secs": 9, "nanosecs": 999999999}})"));
  BOOST_TEST_REQUIRE(config.time_offsets.size() == 2U);
  BOOST_TEST((config.time_offsets[0].clock == linux::TimeOffset::Clock::kMonotonic));
  BOOST_TEST(config.time_offsets[0].seconds == -172800);
  BOOST_TEST(config.time_offsets[1].nanoseconds == 999999999U);
  const std::string nanoseconds =
      with_all_namespaces(R"("timeOffsets": {"boottime": {"nanosecs": 1000000000}})");
  const std::string clock = with_all_namespaces(R"("timeOffsets": {"realtime": {"secs": 1}})");
  const Mistake mistakes[] = {
      {R"({"linux": {"timeOffsets": {"boottime": {"secs": 1}}}})", "/linux/timeOffsets",
       "needs a time namespace"},
      {R"({"linux": {"namespaces": [{"type": "time", "path": "/proc/1/ns/time"}, {"type": "uts"},
          {"type": "mount"}], "timeOffsets": {"boottime": {"secs": 1}}}})",
       "/linux/timeOffsets", "joined by path"},
      {nanoseconds, "/linux/timeOffsets/boottime/nanosecs", "from 0 to 999999999"},
      {clock, "/linux/timeOffsets/realtime", "unknown clock (known: monotonic, boottime)"},
  };
  check_mistakes(mistakes);
}

BOOST_AUTO_TEST_CASE(a_broken_section_is_not_complained_about_twice) {
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"namespaces": "all", "maskedPaths": ["/a"], "sysctl": {"net.core.somaxconn": "1"}}})",
       "/linux/namespaces", "must be a list"}};
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
