#include "linux/namespaces/sysctl.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

Sysctl sysctl(const std::string& key, std::string value = "1") {
  return must(parse_sysctl(key, std::move(value)));
}

NamespaceSet with(NamespaceKind kind, std::optional<HostPath> path = std::nullopt) {
  NamespaceSet set;
  must(set.add({kind, std::move(path)}));
  return set;
}

std::string read(const std::string& path) {
  std::ifstream file("/proc/sys/" + path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sysctls)

BOOST_AUTO_TEST_CASE(both_forms_of_a_key_name_the_same_file)  // L-35
{
  const std::pair<const char*, const char*> table[] = {
      {"net.ipv4.ip_forward", "net/ipv4/ip_forward"},
      {"net/ipv4/ip_forward", "net/ipv4/ip_forward"},
      {"net/ipv4/conf/eno2.100/rp_filter", "net/ipv4/conf/eno2.100/rp_filter"},
      {"net.ipv4.conf.eno2/100.rp_filter", "net/ipv4/conf/eno2.100/rp_filter"},
      {"kernel.shm_rmid_forced", "kernel/shm_rmid_forced"},
      {"fs.mqueue.msg_max", "fs/mqueue/msg_max"},
      {"user.max_user_namespaces", "user/max_user_namespaces"},
      {"kernel.domainname", "kernel/domainname"},
  };
  for (const auto& [key, path] : table) {
    BOOST_TEST(sysctl(key).path == path);
    BOOST_TEST(sysctl(key).name == key);
  }
}

BOOST_AUTO_TEST_CASE(a_sysctl_of_the_whole_host_is_refused)  // L-35
{
  for (const char* key : {"kernel.core_pattern", "kernel/core_pattern", "vm.swappiness",
                          "fs.file-max", "kernel.msgmaxx", "kernel.sem.x", "fs.mqueuex.y",
                          "kernel.panic", "net", "user", "netx.y"}) {
    const auto parsed = parse_sysctl(key, "1");
    BOOST_REQUIRE_MESSAGE(!parsed, key);
    BOOST_TEST(parsed.error().message().starts_with(fmt::format("sysctl \"{}\": ", key)));
    BOOST_TEST(parsed.error().message().find("allowed are net.*") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(no_key_leads_out_of_its_tree)  // L-35
{
  for (const char* key :
       {"", "net.", ".net", "net..ipv4", "net/../kernel/core_pattern", "/net/x", "net/./x",
        "net//x", "net/..", "net...kernel", "net.ipv4.//.x", "/proc/sys/net/x"})
    BOOST_TEST(!parse_sysctl(key, "1").has_value(), key);
  BOOST_TEST(!parse_sysctl(std::string_view("net/a\0b", 7), "1").has_value());
}

BOOST_AUTO_TEST_CASE(each_sysctl_wants_the_namespace_that_owns_it)  // L-35
{
  const std::pair<const char*, NamespaceKind> table[] = {
      {"net.ipv4.ip_forward", NamespaceKind::kNetwork},
      {"kernel.msgmax", NamespaceKind::kIpc},
      {"kernel.msgmnb", NamespaceKind::kIpc},
      {"kernel.msgmni", NamespaceKind::kIpc},
      {"kernel.sem", NamespaceKind::kIpc},
      {"kernel.shmall", NamespaceKind::kIpc},
      {"kernel.shmmax", NamespaceKind::kIpc},
      {"kernel.shmmni", NamespaceKind::kIpc},
      {"kernel.shm_rmid_forced", NamespaceKind::kIpc},
      {"fs.mqueue.msg_max", NamespaceKind::kIpc},
      {"kernel.domainname", NamespaceKind::kUts},
      {"user.max_user_namespaces", NamespaceKind::kUser},
  };
  for (const auto& [key, owner] : table)
    for (const NamespaceKind kind : kNamespaceKinds)
      BOOST_TEST(check_sysctl(sysctl(key), with(kind)).has_value() == (kind == owner), key);
}

BOOST_AUTO_TEST_CASE(the_error_says_which_namespace_to_add)  // L-35
{
  BOOST_TEST(must_fail(check_sysctl(sysctl("net.ipv4.ip_forward"), {})) ==
             "sysctl \"net.ipv4.ip_forward\": would change the host, because the container has no"
             " network namespace of its own; add {\"type\": \"network\"} to /linux/namespaces");
}

BOOST_AUTO_TEST_CASE(a_joined_namespace_that_is_the_runtimes_own_is_refused)  // L-35
{
  const HostPath own("/proc/self/ns/net");
  const std::string message =
      must_fail(check_sysctl(sysctl("net.ipv4.ip_forward"), with(NamespaceKind::kNetwork, own)));
  BOOST_TEST(message.find("/proc/self/ns/net is the network namespace of the runtime itself") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_joined_namespace_of_the_parent_is_accepted, *needs_root())  // L-35
{
  // For a child with a network namespace of its own, the same path is another namespace.
  const HostPath parents("/proc/" + std::to_string(::getpid()) + "/ns/net");
  BOOST_TEST(
      run_in_child(CLONE_NEWNET, [&] {
        must(check_sysctl(sysctl("net.ipv4.ip_forward"), with(NamespaceKind::kNetwork, parents)));
      }) == 0);
}

BOOST_AUTO_TEST_CASE(the_host_name_has_a_field_of_its_own)  // L-35
{
  BOOST_TEST(must_fail(check_sysctl(sysctl("kernel.hostname", "x"), with(NamespaceKind::kUts))) ==
             "sysctl \"kernel.hostname\": use the field /hostname, which sets the same value");
}

BOOST_AUTO_TEST_CASE(what_belongs_to_one_interface_may_come_later) {
  for (const char* key : {"net.ipv4.conf.eth0.rp_filter", "net.ipv6.conf.eth0.disable_ipv6",
                          "net/ipv4/neigh/eno2.100/gc_stale_time"})
    BOOST_TEST(is_interface_sysctl(sysctl(key)), key);
  for (const char* key : {"net.ipv4.conf.all.rp_filter", "net.ipv4.conf.default.rp_filter",
                          "net.ipv4.conf.lo.rp_filter", "net.ipv4.ip_forward", "kernel.sem"})
    BOOST_TEST(!is_interface_sysctl(sysctl(key)), key);
}

OCIRUN_CHILD_TEST(values_arrive_in_the_containers_namespaces,
                  CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID | CLONE_NEWNS) {
  const Sysctl wanted[] = {sysctl("net.ipv4.ip_default_ttl", "77"),
                           sysctl("net/ipv4/conf/lo/rp_filter", "2"),
                           sysctl("kernel.msgmax", "4096"), sysctl("kernel.domainname", "example")};
  must(write_sysctls(wanted));
  BOOST_TEST(read("net/ipv4/ip_default_ttl") == "77");
  BOOST_TEST(read("net/ipv4/conf/lo/rp_filter") == "2");
  BOOST_TEST(read("kernel/msgmax") == "4096");
  BOOST_TEST(read("kernel/domainname") == "example");
  const Sysctl empty[] = {sysctl("kernel.domainname", "")};
  must(write_sysctls(empty));
  BOOST_TEST(read("kernel/domainname") == "");
}

OCIRUN_CHILD_TEST(a_cover_over_proc_sys_is_not_what_is_written_to, CLONE_NEWNET | CLONE_NEWNS)
// runc CVE-2025-52881
{
  BOOST_REQUIRE(::mount("none", "/proc/sys", "tmpfs", 0, nullptr) == 0);
  const Sysctl wanted[] = {sysctl("net.ipv4.ip_default_ttl", "78")};
  must(write_sysctls(wanted));
  BOOST_TEST(::access("/proc/sys/net", F_OK) != 0);  // nothing was made in the cover
  BOOST_REQUIRE(::umount("/proc/sys") == 0);
  BOOST_TEST(read("net/ipv4/ip_default_ttl") == "78");
}

OCIRUN_CHILD_TEST(an_error_names_the_sysctl_its_value_and_the_reason, CLONE_NEWNET | CLONE_NEWNS) {
  const Sysctl absent[] = {sysctl("net.ipv4.no_such_thing", "1")};
  const std::string message = must_fail(write_sysctls(absent));
  BOOST_TEST(
      message.starts_with("/linux/sysctl/net.ipv4.no_such_thing: set to \"1\" (this kernel has no"),
      message);
  BOOST_TEST(message.ends_with(": no such file or directory"));
  const Sysctl bad[] = {sysctl("net.ipv4.ip_default_ttl", "many")};
  BOOST_TEST(must_fail(write_sysctls(bad)).find("does not take this value") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
