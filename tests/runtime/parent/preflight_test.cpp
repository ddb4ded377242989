#include "runtime/parent/preflight.hpp"

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// check_host() for a container whose root is `scratch` and whose pid file is `pid_file`.
Result<Preflight> check(const Scratch& scratch, const std::string& pid_file) {
  bundle::Config config;
  config.root_path = HostPath(scratch.path());
  CreateRequest request{.id = must(ContainerId::parse("web")),
                        .bundle = HostPath(scratch.path()),
                        .console_socket = {},
                        .announcement = {.pid_file = HostPath(pid_file), .pidfd_socket = {}}};
  return check_host(config, request, Log());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preflight)

BOOST_AUTO_TEST_CASE(a_pid_file_needs_a_directory_before_anything_is_made) {
  const Scratch scratch;
  must(check(scratch, scratch / "pid"));
  must(check(scratch, "pid"));
  BOOST_TEST(scratch.names().empty());
  BOOST_TEST(must_fail(check(scratch, scratch / "none/pid")) ==
             "--pid-file: write " + scratch.path() + "/none/pid: no such file or directory");
  BOOST_TEST(must_fail(check(scratch, scratch.path() + "/")).ends_with("is a directory"));
}

BOOST_AUTO_TEST_SUITE_END()
