#include "linux/process/lsm.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

// The kernel's own list of active LSMs, a source that the product does not use.
bool kernel_lists(const std::string& name) {
  std::ifstream file("/sys/kernel/security/lsm");
  std::string list;
  std::getline(file, list);
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

Result<void> set_apparmor_on_exec(const std::string& profile) {
  ProcfsOnDemand procfs;
  return linux::set_apparmor_on_exec(procfs, profile);
}
Result<void> set_selinux_on_exec(const std::string& label) {
  ProcfsOnDemand procfs;
  return linux::set_selinux_on_exec(procfs, label);
}

std::string own_label(const char* file) {
  std::ifstream attribute(std::string("/proc/thread-self/attr/") + file);
  std::string label;
  std::getline(attribute, label, '\0');
  return label;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lsm)

BOOST_AUTO_TEST_CASE(what_is_enabled_agrees_with_the_kernels_list) {
  struct stat info{};
  if (::stat("/sys/kernel/security/lsm", &info) != 0) {
    BOOST_TEST_MESSAGE("skipped: securityfs is not mounted");
    return;
  }
  BOOST_TEST(apparmor_enabled() == kernel_lists("apparmor"));
  BOOST_TEST(selinux_enabled() == kernel_lists("selinux"));
}

OCIRUN_CHILD_TEST(a_profile_without_apparmor_is_refused_and_names_the_field, 0)  // P-9
{
  if (apparmor_enabled()) return;
  BOOST_TEST(must_fail(check_lsm("web", "")) ==
             "/process/apparmorProfile: \"web\" was asked for, but AppArmor is off on this host;"
             " remove the field, or boot with AppArmor");
  must(check_lsm("unconfined", ""));
  must(check_lsm("", ""));
  must(set_apparmor_on_exec("unconfined"));
  must(set_apparmor_on_exec(""));
}

OCIRUN_CHILD_TEST(a_profile_that_is_not_loaded_is_an_error_that_says_so, 0)  // P-9
{
  if (!apparmor_enabled()) return;
  const std::string message = must_fail(set_apparmor_on_exec("ocirun-no-such-profile"));
  BOOST_TEST(message.find("the profile is not loaded") != std::string::npos);
  must(set_apparmor_on_exec("unconfined"));
}

OCIRUN_CHILD_TEST(a_label_without_selinux_is_refused_and_names_the_field, 0)  // P-16
{
  if (selinux_enabled()) return;
  const std::string label = "system_u:system_r:container_t:s0:c1,c2";
  const std::string message = must_fail(check_lsm("", label));
  BOOST_TEST(message.starts_with("/process/selinuxLabel: \"" + label + "\" was asked for, but"));
  ProcfsOnDemand procfs;
  must(linux::set_selinux_on_exec(procfs, ""));
  must(set_selinux_key_label(procfs, ""));
}

// Init sets labels after changing to the container's root, so a /sys of the image must not matter.
OCIRUN_CHILD_TEST(the_kernel_and_not_sys_answers_what_is_written, CLONE_NEWNS)  // P-9, P-16
{
  ProcfsOnDemand procfs;
  must(procfs.get());
  const bool apparmor = apparmor_enabled(), selinux = selinux_enabled();
  BOOST_REQUIRE(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  BOOST_REQUIRE(::mount("none", "/sys", "tmpfs", 0, nullptr) == 0);
  if (!apparmor)
    BOOST_TEST(must_fail(linux::set_apparmor_on_exec(procfs, "web"))
                   .starts_with("/process/apparmorProfile: set \"web\""));
  else
    must(linux::set_apparmor_on_exec(procfs, "unconfined"));
  if (!selinux)
    BOOST_TEST(must_fail(linux::set_selinux_on_exec(procfs, "label"))
                   .starts_with("/process/selinuxLabel: set \"label\""));
  else
    must(linux::set_selinux_on_exec(procfs, own_label("current")));
}

OCIRUN_CHILD_TEST(the_own_label_may_be_set_again, 0)  // P-16
{
  if (!selinux_enabled()) return;
  const std::string label = own_label("current");
  must(set_selinux_on_exec(label));
  BOOST_TEST(own_label("exec") == label);
  BOOST_TEST(must_fail(set_selinux_on_exec("no_such_label")).find("does not know this label") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_profile_is_the_whole_name_or_one_inside_of_it) {
  for (const std::string_view label : {"foo (enforce)\n", "foo", "foo//child (enforce)\n",
                                       "foo//&bar (enforce)\n", "foo (complain)\n"})
    BOOST_TEST(is_of_profile(label, "foo"), std::string(label));
  for (const std::string_view label : {"foo-unconfined (unconfined)\n", "unconfined\n",
                                       "fo (enforce)\n", "bar//foo (enforce)\n", ""})
    BOOST_TEST(!is_of_profile(label, "foo"), std::string(label));
  BOOST_TEST(is_of_profile("a b (enforce)\n", "a b"));
}

BOOST_AUTO_TEST_SUITE_END()
