#include "linux/process/lsm.hpp"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr int kSession = KEY_SPEC_SESSION_KEYRING;

long session() { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, kSession, 0); }

bool has_keyrings() {
  if (session() >= 0 || errno != ENOSYS) return true;
  BOOST_TEST_MESSAGE("skipped: this kernel has no keyrings");
  return false;
}

std::string describe(long key) {
  char text[256] = "";
  ::syscall(SYS_keyctl, KEYCTL_DESCRIBE, key, text, sizeof text);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keyrings)

OCIRUN_CHILD_TEST(each_join_makes_a_keyring_of_its_own, 0) {
  if (!has_keyrings()) return;
  must(join_session_keyring());
  const long first = session();
  must(join_session_keyring());
  const long second = session();
  BOOST_TEST(first > 0);
  BOOST_TEST(second > 0);
  BOOST_TEST(first != second);
}

OCIRUN_CHILD_TEST(only_its_possessor_has_rights, 0) {
  if (!has_keyrings()) return;
  must(join_session_keyring());
  // type;uid;gid;permissions;description
  BOOST_TEST(describe(kSession).starts_with("keyring;0;0;3f000000;"));

  const long mine = session();
  const char secret[] = "secret";
  BOOST_TEST(::syscall(SYS_add_key, "user", "ocirun", secret, sizeof secret, kSession) > 0);
  // Another container's process of the same uid.
  const int status = run_in_child(0, [&] {
    must(join_session_keyring());
    char text[64];
    BOOST_TEST(::syscall(SYS_keyctl, KEYCTL_READ, mine, text, sizeof text) < 0);
    BOOST_TEST(::syscall(SYS_keyctl, KEYCTL_SEARCH, mine, "user", "ocirun", 0) < 0);
    BOOST_TEST(::syscall(SYS_keyctl, KEYCTL_LINK, mine, kSession) < 0);
  });
  BOOST_TEST(status == 0);
}

// Planted under the name that a runtime would ask for, with search rights for everybody.
OCIRUN_CHILD_TEST(a_planted_keyring_is_never_joined, 0) {
  if (!has_keyrings()) return;
  const long planted = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "_ses");
  BOOST_REQUIRE(planted > 0);
  BOOST_REQUIRE(::syscall(SYS_keyctl, KEYCTL_SETPERM, planted, 0x3F3F3F3F) == 0);
  // Another container's process of the same uid.
  const int status = run_in_child(0, [&] {
    must(join_session_keyring());
    BOOST_TEST(session() != planted);
    // The trap works: who asks by name gets it.
    BOOST_TEST(::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "_ses") == planted);
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
