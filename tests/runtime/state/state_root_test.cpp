#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/base/options.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(state_root)

BOOST_AUTO_TEST_CASE(the_hosts_root_has_one_place_whatever_the_environment_says, *needs_root()) {
  BOOST_TEST(is_host_root());
  for (const char* value : {"", "/run/user/0", "relative"}) {
    ::setenv("XDG_RUNTIME_DIR", value, 1);
    BOOST_TEST(default_state_root().string() == "/run/ocirun");
  }
  ::unsetenv("XDG_RUNTIME_DIR");
  BOOST_TEST(default_state_root().string() == "/run/ocirun");
}

// Rootless podman calls ocirun as uid 0 of a user namespace, with the user's XDG_RUNTIME_DIR.
BOOST_AUTO_TEST_CASE(root_of_a_user_namespace_is_a_user, *needs_root()) {
  BOOST_REQUIRE(is_host_root());  // the child must not take over this answer
  BOOST_TEST(run_in_child(CLONE_NEWUSER, [] {
               BOOST_TEST(::geteuid() == 0u);
               BOOST_TEST(!is_host_root());
               ::setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1);
               BOOST_TEST(default_state_root().string() == "/run/user/1000/ocirun");
             }) == 0);
}

// By its map, the namespace looks like the initial one: PrivateUsers=full of systemd.
BOOST_AUTO_TEST_CASE(root_of_an_identity_mapped_user_namespace_is_not_the_hosts, *needs_root()) {
  const std::string all = "0 0 4294967295";
  BOOST_TEST(run_in_child(CLONE_NEWUSER,
                          [] {
                            BOOST_TEST((!is_host_root() && is_root_outside()));
                            ::setenv("XDG_RUNTIME_DIR", "/somewhere", 1);
                            BOOST_TEST(default_state_root().string() == "/somewhere/ocirun");
                            ::unsetenv("XDG_RUNTIME_DIR");
                            BOOST_TEST(default_state_root().string() == "/run/ocirun");
                          },
                          {.uids = all, .gids = all}) == 0);
}

BOOST_AUTO_TEST_CASE(root_of_a_users_namespace_is_not_root_outside, *needs_root()) {
  BOOST_TEST(is_root_outside());
  const std::string lent = "0 100000 65536";
  BOOST_TEST(run_in_child(CLONE_NEWUSER,
                          [] {
                            BOOST_REQUIRE((::setgid(0) == 0 && ::setuid(0) == 0));
                            BOOST_TEST((!is_host_root() && !is_root_outside()));
                          },
                          {.uids = lent, .gids = lent}) == 0);
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setuid(12345) == 0);
               BOOST_TEST((!is_host_root() && !is_root_outside()));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(an_empty_variable_counts_as_unset, *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setuid(12345) == 0);
               BOOST_TEST(!is_host_root());
               ::setenv("XDG_RUNTIME_DIR", "", 1);
               const std::string empty = default_state_root().string();
               ::unsetenv("XDG_RUNTIME_DIR");
               BOOST_TEST(default_state_root().string() == empty);
               BOOST_TEST(empty == "/run/user/12345/ocirun");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(every_caller_has_one_place) {  // as engines rely on
  struct Case {
    Caller caller;
    std::string_view root;
  };
  const Case cases[] = {
      {{.host_root = true, .runtime_directory = "/run/user/0"}, "/run/ocirun"},
      {{.user = 1001, .runtime_directory = "/somewhere"}, "/somewhere/ocirun"},
      {{.user = 1001, .runtime_directory = "relative"}, "/run/user/1001/ocirun"},
      {{.user = 1001, .runtime_directory = ""}, "/run/user/1001/ocirun"},
      // rootless podman: uid 0 of a user namespace that the user 1001 made
      {{.namespace_root = true, .user = 1001, .runtime_directory = "/run/user/1001"},
       "/run/user/1001/ocirun"},
      {{.namespace_root = true,
        .user = 1001,
        .runtime_directory = "",
        .user_directory_exists = true},
       "/run/user/1001/ocirun"},
      // a root whose user outside is root: /run/user/0 lives only as long as root's sessions
      {{.namespace_root = true, .user = 0, .runtime_directory = "", .user_directory_exists = true},
       "/run/ocirun"},
      // inside another container, where /run/user/UID does not exist
      {{.namespace_root = true, .user = 100000, .runtime_directory = ""}, "/run/ocirun"},
  };
  for (const Case& one : cases) BOOST_TEST(state_root_for(one.caller) == one.root);
}

BOOST_AUTO_TEST_SUITE_END()
