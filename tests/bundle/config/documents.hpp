#pragma once

// A valid document for the tests, and functions that patch, parse and check it.

#include <fcntl.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/file_io.hpp"

namespace ocirun::bundle {

inline const HostPath kBundle("/bundles/web1");

inline nlohmann::ordered_json whole_document() {
  return nlohmann::ordered_json::parse(R"({
    "ociVersion": "1.3.0",
    "root": {"path": "rootfs", "readonly": true},
    "hostname": "web1",
    "process": {
      "user": {"uid": 1000, "gid": 1000}, "cwd": "/", "args": ["sh"], "env": ["PATH=/bin"]
    },
    "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
    "linux": {"namespaces": [
      {"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"},
      {"type": "cgroup"}
    ]}
  })");
}

/// The valid document after a JSON merge patch (RFC 7396: null removes a member).
inline std::string patched(std::string_view patch) {
  auto document = whole_document();
  document.merge_patch(nlohmann::ordered_json::parse(patch));
  return document.dump();
}

inline Parsed parse_patched(std::string_view patch) {
  return parse_config(patched(patch), kBundle);
}

/// The config of the patched document. The test fails if the document has a problem.
inline Config config_of(std::string_view patch) {
  Parsed parsed = parse_patched(patch);
  BOOST_TEST_CONTEXT("patch " << patch)
  for (const std::string& problem : parsed.problems) BOOST_ERROR(problem);
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  return *std::move(parsed.config);
}

/// A patch, and the one problem of the patched document: its pointer and words of its sentence.
struct Mistake {
  std::string_view patch, pointer, words;
};

inline void check_one_problem(const std::vector<std::string>& problems, const Mistake& mistake) {
  BOOST_TEST_REQUIRE(problems.size() == 1U, "problems: " << nlohmann::json(problems).dump());
  BOOST_TEST(problems[0].starts_with(std::string(mistake.pointer) + ": "), problems[0]);
  BOOST_TEST(problems[0].contains(mistake.words), problems[0]);
}

inline void check_mistakes(std::span<const Mistake> mistakes) {
  for (const Mistake& mistake : mistakes) BOOST_TEST_CONTEXT("patch " << mistake.patch) {
      const Parsed parsed = parse_patched(mistake.patch);
      check_one_problem(parsed.problems, mistake);
      BOOST_TEST(!parsed.config.has_value());
    }
}

inline void check_accepted(std::span<const std::string_view> patches) {
  for (const std::string_view patch : patches) BOOST_TEST_CONTEXT("patch " << patch) {
      const Parsed parsed = parse_patched(patch);
      BOOST_TEST(parsed.problems.empty(), nlohmann::json(parsed.problems).dump());
      BOOST_TEST(parsed.refusals.empty(), nlohmann::json(parsed.refusals).dump());
    }
}

inline std::string read_text(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const int directory = ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const UniqueFd owner(directory);
  auto text = linux::read_file(owner, path.substr(slash + 1), std::size_t{32} << 20);
  BOOST_TEST_REQUIRE(text.has_value(), path);
  return *std::move(text);
}

/// The directory of the specification's documents, which the repository does not hold:
/// $OCIRUN_SPEC_DIR, or "" if that is not set.
inline std::string spec_directory() {
  const char* directory = std::getenv("OCIRUN_SPEC_DIR");
  return directory == nullptr ? std::string() : directory;
}
inline boost::test_tools::assertion_result has_specification(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!spec_directory().empty());
  if (!result) result.message() << "OCIRUN_SPEC_DIR is not set";
  return result;
}

}  // namespace ocirun::bundle
