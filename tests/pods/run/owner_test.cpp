// Whose container the runtime's answer to `state` tells of.

#include <fmt/format.h>

#include <filesystem>

#include "pods/run/runtime.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// The answer of a runtime that has a container with this bundle.
std::string state(const std::string& bundle) {
  return fmt::format(
      R"({{"ociVersion": "1.0.2", "id": "p.c", "status": "stopped", "bundle": "{}"}})", bundle);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(owners_of_containers)

BOOST_AUTO_TEST_CASE(a_container_is_ours_if_it_has_our_bundle) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "ours");
  std::filesystem::create_directory(scratch / "theirs");
  std::filesystem::create_directory_symlink(scratch / "ours", scratch / "link");
  const auto owner = [&](const std::string& bundle) {
    return Runtime::owner_of(state(bundle), "p.c", scratch / "ours");
  };
  BOOST_TEST((owner(scratch / "ours") == Owner::kUs));
  BOOST_TEST((owner(scratch / "link") == Owner::kUs));
  BOOST_TEST((owner(scratch / "theirs") == Owner::kOther));
  BOOST_TEST((owner("/absent") == Owner::kOther));
  BOOST_TEST((Runtime::owner_of(state("/gone"), "p.c", "/gone") == Owner::kUs));
}

BOOST_AUTO_TEST_CASE(an_answer_that_tells_no_bundle_tells_no_owner) {
  for (const char* answer :
       {"", "no JSON", "{}", R"({"status": "stopped"})", R"({"bundle": "/b"})"})
    BOOST_TEST((Runtime::owner_of(answer, "p.c", "/b") == Owner::kUnknown));
}

BOOST_AUTO_TEST_CASE(only_the_words_of_runtimes_say_that_nobody_has_an_id) {
  const auto owner = [](const char* error) {
    return Runtime::owner_of(refuse("{}", error), "p.c", "/b");
  };
  for (const char* error :
       {"state exited with status 1: container does not exist (in the state root /run/ocirun)",
        "error opening file `/run/crun/p.c/status`: No such file or directory",
        "loading container \"p.c\": file does not exist"})
    BOOST_TEST((owner(error) == Owner::kNobody));
  for (const char* error : {"state exited with status 1", "state did not end within 60 s",
                            "Resource temporarily unavailable",
                            "state exited with status 127: libyajl.so.2: cannot open shared object "
                            "file: No such file or directory",
                            "the container \"p.c\" is incomplete"})
    BOOST_TEST((owner(error) == Owner::kUnknown));
}

BOOST_AUTO_TEST_SUITE_END()
