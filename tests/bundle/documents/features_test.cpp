#include "bundle/documents/features.hpp"

#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(features)

namespace {

bool holds(const nlohmann::json& list, const char* word) {
  return std::ranges::find(list, nlohmann::json(word)) != list.end();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_document_tells_what_this_build_does) {  // F-1 … F-14
  const auto document = nlohmann::json::parse(features_text(Criu::kIsMissing));
  BOOST_TEST(document["ociVersionMin"] == "1.0.0");
  BOOST_TEST(document["ociVersionMax"] == "1.3.0");
  BOOST_TEST(document["hooks"] == nlohmann::json({"prestart", "createRuntime", "createContainer",
                                                  "startContainer", "poststart", "poststop"}));
  for (const char* option : {"rro", "idmap", "ridmap", "tmpcopyup", "rnodev", "nosymfollow"})
    BOOST_TEST(holds(document["mountOptions"], option), option);
  const auto& linux = document["linux"];
  BOOST_TEST(linux["namespaces"].size() == 8U);
  BOOST_TEST(holds(linux["capabilities"], "CAP_CHECKPOINT_RESTORE"));
  BOOST_TEST(linux["cgroup"]["v1"] == true);
  BOOST_TEST(linux["cgroup"]["v2"] == true);
  BOOST_TEST(linux["cgroup"]["rdma"] == true);
  BOOST_TEST(linux["cgroup"]["systemd"].is_boolean());
  BOOST_TEST(linux["seccomp"]["enabled"] == true);
  BOOST_TEST(linux["seccomp"]["actions"].size() == 9U);
  BOOST_TEST(linux["seccomp"]["operators"].size() == 7U);
  BOOST_TEST(linux["seccomp"]["archs"].size() == 23U);
  BOOST_TEST(linux["seccomp"]["knownFlags"].size() == 4U);
  for (const auto& flag : linux["seccomp"]["supportedFlags"])
    BOOST_TEST(holds(linux["seccomp"]["knownFlags"], flag.get<std::string>().c_str()));
  for (const char* feature : {"apparmor", "selinux", "intelRdt", "netDevices"})
    BOOST_TEST(linux[feature]["enabled"] == true);
  BOOST_TEST(linux["mountExtensions"]["idmap"]["enabled"] == true);
  BOOST_TEST(linux["memoryPolicy"]["modes"].size() == 7U);
  BOOST_TEST(linux["memoryPolicy"]["flags"].size() == 3U);
  BOOST_TEST(document["annotations"]["org.opencontainers.runc.checkpoint.enabled"] == "false");
  BOOST_TEST(features_text(Criu::kIsFound).find("checkpoint.enabled\": \"true\"") !=
             std::string::npos);
  BOOST_TEST(document["annotations"].contains("io.github.seccomp.libseccomp.version"));
  BOOST_TEST(document["annotations"]["org.ocirun.sealed"] ==
             "memory");  // no unit test has entry.cpp
  BOOST_TEST(document["potentiallyUnsafeConfigAnnotations"][0] == "org.systemd.property.");
  BOOST_TEST(document["potentiallyUnsafeConfigAnnotations"].is_array());
}

BOOST_AUTO_TEST_CASE(the_oldest_and_the_newest_version_are_accepted_in_a_config) {  // F-1
  const auto document = nlohmann::json::parse(features_text(Criu::kIsMissing));
  for (const char* bound : {"ociVersionMin", "ociVersionMax"})
    BOOST_TEST(
        parse_patched(fmt::format(R"({{"ociVersion": "{}"}})", document[bound].get<std::string>()))
            .warnings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
