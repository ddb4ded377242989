// The clauses of the Knative runtime contract: docs/requirements.md.

#include "pods/prepare/contract/clauses.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// A bundle in a scratch directory, and what a clause says of it.
struct Fixture {
  Scratch scratch;
  bool only_v2 = false;

  Fixture() { make("rootfs"); }

  void make(const std::string& name, mode_t mode = 0755) const {
    ::mkdir((scratch.path() + "/" + name).c_str(), 0755);
    ::chmod((scratch.path() + "/" + name).c_str(), mode);
  }

  Judgement judge(std::string_view id, const std::string& members,
                  const std::string& process = "") const {
    const std::string text = R"({"ociVersion": "1.0.2", "root": {"path": "rootfs"},
        "process": {"cwd": "/", "args": ["a"])" +
                             process + "}" + members + "}";
    const HostPath path(scratch.path());
    const bundle::Config config = must(bundle::parse_config(text, path).take());
    const auto clause = std::ranges::find(contract_clauses(), id, &Clause::id);
    BOOST_REQUIRE(clause != contract_clauses().end());
    return clause->judge(
        {.config = config,
         .root = must(linux::SafeDir::open_root(HostPath(scratch.path() + "/rootfs"))),
         .host_has_cgroup_v2_only = only_v2});
  }

  std::string verdict(std::string_view id, const std::string& members,
                      const std::string& process = "") const {
    return std::string(name_of(judge(id, members, process).verdict));
  }
};

std::string mount(const std::string& destination, const std::string& type,
                  const std::string& options = "") {
  return R"(, "linux": {"namespaces": [{"type": "mount"}]}, "mounts": [{"destination": ")" +
         destination + R"(", "type": ")" + type + R"(", "source": "/srv", "options": [)" + options +
         "]}]";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(knative_contract, Fixture)

BOOST_AUTO_TEST_CASE(every_row_of_the_matrix_has_a_clause) {
  std::set<std::string> ids;
  for (const Clause& clause : contract_clauses()) {
    BOOST_TEST(ids.emplace(clause.id).second);
    BOOST_TEST(!clause.words.empty());
  }
  for (int number = 1; number <= 26; ++number)
    BOOST_TEST(ids.contains("KN-" + std::to_string(number)), number);
  BOOST_TEST(ids.size() == 26U);
}

BOOST_AUTO_TEST_CASE(port_is_a_number) {  // KN-1
  BOOST_TEST(verdict("KN-1", "") == "not met");
  BOOST_TEST(verdict("KN-1", "", R"(, "env": ["PORT=8080"])") == "met");
  for (const char* bad : {"", "0", "65536", "80a"})
    BOOST_TEST(verdict("KN-1", "", std::string(R"(, "env": ["PORT=)") + bad + "\"]") == "not met");
  BOOST_TEST(verdict("KN-1", "", R"(, "env": ["XPORT=1", "PORTX=1"])") == "not met");
}

BOOST_AUTO_TEST_CASE(the_names_of_the_service_are_set) {  // KN-2
  BOOST_TEST(judge("KN-2", "", R"(, "env": ["K_SERVICE=a"])").reason ==
             "K_REVISION, K_CONFIGURATION not set");
  BOOST_TEST(verdict("KN-2", "",
                     R"(, "env": ["K_SERVICE=a", "K_REVISION=b", "K_CONFIGURATION=c"])") == "met");
}

BOOST_AUTO_TEST_CASE(an_image_exposes_one_port) {  // KN-3
  const auto exposes = [](const std::string& ports) {
    return R"(, "annotations": {"org.opencontainers.image.exposedPorts": ")" + ports + "\"}";
  };
  BOOST_TEST(verdict("KN-3", "") == "not applicable");
  BOOST_TEST(verdict("KN-3", exposes("8080/tcp")) == "met");
  BOOST_TEST(verdict("KN-3", exposes("8080/tcp,9090/tcp")) == "not met");
}

BOOST_AUTO_TEST_CASE(a_directory_is_writable_by_its_mount_or_its_mode) {  // KN-7, KN-8
  BOOST_TEST(verdict("KN-7", "") == "not met");  // the root filesystem has no /tmp
  make("rootfs/tmp");
  BOOST_TEST(verdict("KN-7", "") == "met");
  BOOST_TEST(verdict("KN-7", "", R"(, "user": {"uid": 4000, "gid": 4000})") == "not met");
  make("rootfs/tmp", 01777);
  BOOST_TEST(verdict("KN-7", "", R"(, "user": {"uid": 4000, "gid": 4000})") == "met");
  BOOST_TEST(verdict("KN-7", mount("/tmp", "tmpfs")) == "met");
  BOOST_TEST(verdict("KN-7", mount("/tmp", "tmpfs", R"("ro")")) == "not met");
  BOOST_TEST(verdict("KN-7", mount("/tmp", "bind", R"("rbind", "rro")")) == "not met");
  BOOST_TEST(verdict("KN-7", mount("/tmpx", "tmpfs", R"("ro")")) == "met");
  BOOST_TEST(verdict("KN-8", mount("/var", "tmpfs")) == "not met");  // it may have no log
  BOOST_TEST(verdict("KN-8", mount("/var/log", "tmpfs")) == "met");
}

BOOST_AUTO_TEST_CASE(resolv_conf_comes_by_a_mount_or_with_the_image) {  // KN-9
  BOOST_TEST(verdict("KN-9", "") == "not met");
  BOOST_TEST(verdict("KN-9", mount("/etc/resolv.conf", "bind", R"("bind")")) == "met");
}

BOOST_AUTO_TEST_CASE(a_terminal_does_not_fit) {  // KN-10, KN-12
  BOOST_TEST(verdict("KN-12", "") == "met");
  BOOST_TEST(verdict("KN-10", "") == "not applicable");
  BOOST_TEST(verdict("KN-12", "", R"(, "terminal": true)") == "not met");
  BOOST_TEST(verdict("KN-10", "", R"(, "terminal": true)") == "not met");
}

BOOST_AUTO_TEST_CASE(another_stop_signal_than_term_does_not_fit) {  // KN-13
  const auto stops = [](const std::string& signal) {
    return R"(, "annotations": {"org.opencontainers.image.stopSignal": ")" + signal + "\"}";
  };
  BOOST_TEST(verdict("KN-13", "") == "met");
  BOOST_TEST(verdict("KN-13", stops("SIGTERM")) == "met");
  BOOST_TEST(verdict("KN-13", stops("SIGQUIT")) == "not met");
  for (const char* signal : {"", "15", "SIGNOPE"})
    BOOST_TEST(verdict("KN-13", stops(signal)) == "met", signal);
}

BOOST_AUTO_TEST_CASE(the_cgroup_filesystem_is_read_only_and_shows_limits) {  // KN-18, KN-19
  BOOST_TEST(verdict("KN-18", "") == "not applicable");
  BOOST_TEST(verdict("KN-19", "") == "not met");
  BOOST_TEST(verdict("KN-18", mount("/sys/fs/cgroup", "cgroup", R"("ro")")) == "met");
  BOOST_TEST(verdict("KN-18", mount("/sys/fs/cgroup", "cgroup")) == "not met");
  BOOST_TEST(verdict("KN-19", mount("/sys/fs/cgroup", "cgroup")) == "met");
  only_v2 = true;
  BOOST_TEST(judge("KN-19", mount("/sys/fs/cgroup", "cgroup")).reason ==
             "cgroup v2 has them as memory.max and cpu.max");
}

BOOST_AUTO_TEST_CASE(a_mount_shows_no_runtime) {  // KN-20
  const auto binds = [](const std::string& source) {
    return R"(, "linux": {"namespaces": [{"type": "mount"}]}, "mounts": [{"destination": "/m", "type": "bind", "source": ")" +
           source + R"(", "options": ["bind"]}])";
  };
  for (const char* good : {"/srv", "/run/ocirunx", "/run/user/1000"})
    BOOST_TEST(verdict("KN-20", binds(good)) == "met");
  for (const char* bad : {"/", "/run", "/run/ocirun", "/run/ocirun/web", "/var/run/docker.sock",
                          "/run/containerd/containerd.sock"})
    BOOST_CHECK_MESSAGE(verdict("KN-20", binds(bad)) == "not met", bad);
}

BOOST_AUTO_TEST_SUITE_END()
