#include "linux/netdevice/net_device.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "linux/base/text.hpp"
#include "linux/netdevice/net_address.hpp"
#include "linux/netdevice/net_link.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

UniqueFd own_namespace() { return UniqueFd(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)); }

void enter(Fd network_namespace) {
  test::detail::check(::setns(network_namespace.value, CLONE_NEWNET) == 0, "setns");
}

// A second network namespace beside the test's own.
UniqueFd make_namespace() {
  const UniqueFd here = own_namespace();
  test::detail::check(::unshare(CLONE_NEWNET) == 0, "unshare");
  UniqueFd there = own_namespace();
  enter(here);
  return there;
}

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char part[1024];
  while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) text.append(part, got);
  ::pclose(pipe);
  return text;
}

// iproute2 sets the scene and looks at the result; the product uses neither.
void ip(const std::string& arguments) {
  const std::string text = output_of("ip " + arguments + " && echo ok");
  if (!text.ends_with("ok\n")) throw std::runtime_error("ip " + arguments + ": " + text);
}
std::string show(const std::string& arguments) { return output_of("ip -o " + arguments); }
std::string show_in(Fd network_namespace, const std::string& arguments) {
  const UniqueFd here = own_namespace();
  enter(network_namespace);
  const std::string text = show(arguments);
  enter(here);
  return text;
}
void ip_in(Fd network_namespace, const std::string& arguments) {
  const UniqueFd here = own_namespace();
  enter(network_namespace);
  ip(arguments);
  enter(here);
}

bool has_device(const std::string& name) { return show("link").contains(": " + name + "@"); }
bool has_device_in(Fd network_namespace, const std::string& name) {
  return show_in(network_namespace, "link").contains(": " + name + "@");
}

void make_device() {
  ip("link add web0 type veth peer name web1");
  ip("link set web0 mtu 1400 up");
  ip("link set web1 up");
}

// One container's network namespace and journal.
struct Moves {
  UniqueFd target = make_namespace();
  UniqueFd file = UniqueFd(::memfd_create("journal", MFD_CLOEXEC));
  Journal journal = Journal(file);

  std::string move(const char* name, const char* new_name) const {
    return must(move_net_device({name, new_name}, target, journal));
  }
  std::string error(const char* name, const char* new_name) const {
    return must_fail(move_net_device({name, new_name}, target, journal));
  }
  using Names = std::vector<std::string>;
  Names bring_back() const {
    return must(return_net_devices(target, journal, [] {}));
  }
};

// The addresses of a device without its index, which may change.
std::string addresses_of(const std::string& name) {
  const std::string shown = show("addr show dev " + name + " scope global");
  std::string text;
  for (const std::string_view line : words(shown, '\n')) text += line.substr(line.find(':'));
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(netlink)

BOOST_AUTO_TEST_CASE(names_of_interfaces_are_those_that_the_kernel_takes)  // L-29
{
  for (const char* name :
       {"eth0", "a", "fifteen-bytes-x", "eth%d", "%d", "e%dx", "eno2.100", "...", "a\xc3\xb6"})
    BOOST_TEST(is_valid_interface_name(name), name);
  for (const char* name : {"", ".", "..", "sixteen-bytes-xx", "a/b", "a:b", "a b", "a\tb", "a\nb",
                           "a\xa0", "eth%", "eth%s", "eth%d%d", "%%d", "eth%5d"})
    BOOST_TEST(!is_valid_interface_name(name), name);
  BOOST_TEST(!is_valid_interface_name(std::string_view("a\0b", 3)));
}

OCIRUN_CHILD_TEST(the_loopback_device_of_a_new_namespace_works, CLONE_NEWNET)  // L-8
{
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto send = [&] {
    return ::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&address),
                    sizeof address);
  };
  BOOST_TEST(send() == -1);
  must(bring_loopback_up());
  BOOST_TEST(send() == 1);
  must(bring_loopback_up());
}

OCIRUN_CHILD_TEST(setting_lo_up_needs_a_capability, CLONE_NEWNET) {
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  BOOST_TEST(
      must_fail(bring_loopback_up()) ==
      "/linux/namespaces: set the loopback device of the new network namespace up, which needs "
      "CAP_NET_ADMIN (run ocirun with it, or leave the network namespace out): operation not "
      "permitted");
}

OCIRUN_CHILD_TEST(a_moved_device_has_its_new_name_its_addresses_and_is_up, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("addr add 10.9.0.2/24 broadcast 10.9.0.255 dev web0");
  ip("addr add 10.9.0.3/24 dev web0");  // secondary
  ip("addr add 10.8.0.2/24 dev web0 label web0:x");
  ip("addr add 10.7.0.1 peer 10.7.0.9 dev web0 noprefixroute");
  ip("addr add 10.6.0.1/24 scope link dev web0");  // not global: stays behind
  ip("addr add 10.5.0.1/24 dev web0 valid_lft 1000 preferred_lft 1000");  // not permanent
  ip("addr add fd00:9::2/64 dev web0 nodad");
  ip("addr add fd00:9::3/64 dev web0 nodad preferred_lft 0");  // deprecated
  BOOST_TEST(moves.move("web0", "net0") == "net0");

  BOOST_TEST(!has_device("web0"));
  const std::string link = show_in(moves.target, "link show net0");
  BOOST_TEST(link.contains("UP"), link);
  BOOST_TEST(link.contains("mtu 1400"), link);
  const std::string v4 = show_in(moves.target, "-4 addr show dev net0");
  for (const char* part :
       {"inet 10.9.0.2/24 brd 10.9.0.255 scope global net0",
        "inet 10.9.0.3/24 scope global secondary", "inet 10.8.0.2/24 scope global net0:x",
        "inet 10.7.0.1 peer 10.7.0.9/32 scope global noprefixroute net0"})
    BOOST_TEST(v4.contains(part), part << " in\n" << v4);
  for (const char* part : {"10.6.0.1", "10.5.0.1"}) BOOST_TEST(!v4.contains(part), v4);
  const std::string v6 = show_in(moves.target, "-6 addr show dev net0");
  BOOST_TEST(v6.contains("inet6 fd00:9::2/64 scope global nodad"), v6);
  BOOST_TEST(v6.contains("inet6 fd00:9::3/64 scope global nodad deprecated"), v6);
  BOOST_TEST(!v6.contains("tentative fd00"), v6);
}

OCIRUN_CHILD_TEST(the_caller_stays_in_its_own_namespace, CLONE_NEWNET) {
  const Moves moves;
  make_device();
  struct stat before{}, after{};
  BOOST_REQUIRE(::stat("/proc/self/ns/net", &before) == 0);
  moves.move("web0", "web0");
  ignore(moves.error("web0", "web0"));  // it is gone
  BOOST_REQUIRE(::stat("/proc/self/ns/net", &after) == 0);
  BOOST_TEST(before.st_ino == after.st_ino);
}

OCIRUN_CHILD_TEST(a_template_gets_a_free_number, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip_in(moves.target, "link add eth0 type veth peer name other");
  ip("addr add 10.9.0.2/24 dev web0 label web0:x");
  BOOST_TEST(moves.move("web0", "eth%d") == "eth1");
  BOOST_TEST(show_in(moves.target, "addr show dev eth1").contains("eth1:x"));
}

OCIRUN_CHILD_TEST(a_name_that_is_taken_is_an_error_and_the_device_comes_back_as_it_was,
                  CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("addr add 10.9.0.2/24 broadcast 10.9.0.255 dev web0 label web0:x");
  ip("addr add fd00:9::2/64 dev web0 nodad");
  ip_in(moves.target, "link add eth0 type veth peer name web0");
  const std::string addresses = addresses_of("web0");
  const std::string message = moves.error("web0", "eth0");
  BOOST_TEST(message.starts_with("move it into the container as eth0: name"
                                 " it eth0 (a device has that name already"),
             message);
  BOOST_TEST(message.ends_with(": file exists"), message);
  BOOST_TEST(moves.bring_back().empty());
  BOOST_TEST(addresses_of("web0") == addresses);
  BOOST_TEST(addresses.contains("inet6 fd00:9::2/64 scope global"), addresses);
  const std::string link = show("link show web0");
  BOOST_TEST(link.contains(",UP"), link);
  BOOST_TEST(link.contains("mtu 1400"), link);
  BOOST_TEST(!show_in(moves.target, "link").contains("oci"));
}

OCIRUN_CHILD_TEST(a_device_that_was_down_is_down_again_after_an_error, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("link set web0 down");
  ip_in(moves.target, "link add eth0 type veth peer name x");
  BOOST_TEST(moves.error("web0", "eth0").contains("file exists"));
  BOOST_TEST(moves.bring_back().empty());
  BOOST_TEST(has_device("web0"));
  BOOST_TEST(!show("link show web0").contains(",UP"));
}

OCIRUN_CHILD_TEST(an_address_that_the_container_cannot_have_is_an_error, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("addr add 10.9.0.2/24 dev web0");
  ip("addr add fd00:9::2/64 dev web0 nodad");
  const UniqueFd here = own_namespace();
  enter(moves.target);
  test::detail::write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
  enter(here);
  const std::string message = moves.error("web0", "web0");
  BOOST_TEST(message.contains("add address fd00:9::2/64"), message);
  BOOST_TEST(moves.bring_back().empty());
  BOOST_TEST(show("addr show dev web0").contains("10.9.0.2/24"));
  BOOST_TEST(show("addr show dev web0").contains("fd00:9::2/64"));
  BOOST_TEST(!has_device_in(moves.target, "web0"));
}

OCIRUN_CHILD_TEST(the_old_name_may_be_taken_in_the_container, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip_in(moves.target, "link add web0 type veth peer name web1");
  BOOST_TEST(moves.move("web0", "net0") == "net0");
  BOOST_TEST(has_device_in(moves.target, "web0"));
  BOOST_TEST(has_device_in(moves.target, "net0"));
}

OCIRUN_CHILD_TEST(a_missing_device_is_named, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  BOOST_TEST(moves.error("web0", "eth0") ==
             "move it into the container as eth0: netlink: no such device");
}

OCIRUN_CHILD_TEST(a_device_that_must_not_leave_stays, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  must(bring_loopback_up());
  const std::string message = moves.error("lo", "lo7");
  BOOST_TEST(message.contains("change its network namespace"), message);
  BOOST_TEST(show("link show lo").contains("UP"));
  BOOST_TEST(show("addr show dev lo").contains("127.0.0.1/8"));
}

OCIRUN_CHILD_TEST(a_file_that_is_no_network_namespace_is_refused, CLONE_NEWNET) {
  make_device();
  const Moves moves{.target = UniqueFd(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC))};
  BOOST_TEST(moves.error("web0", "eth0").contains("invalid argument"));
  BOOST_TEST(has_device("web0"));
}

OCIRUN_CHILD_TEST(a_returned_device_has_its_old_name_and_its_addresses, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("addr add 10.9.0.2/24 dev web0 label web0:x");
  ip("addr add fd00:9::2/64 dev web0 nodad");
  const std::string addresses = addresses_of("web0");
  const std::string name = moves.move("web0", "eth%d");
  ip_in(moves.target, "link set " + name + " name other");  // by its index it is found all the same
  BOOST_TEST(moves.bring_back().empty());
  BOOST_TEST(addresses_of("web0") == addresses);
  BOOST_TEST(show("link show web0").contains(",UP"));
  BOOST_TEST(!has_device_in(moves.target, "other"));
  ip("addr del 10.9.0.2/24 dev web0");
  BOOST_TEST(moves.bring_back().empty());  // it is back, and whoever has it since is left alone
  BOOST_TEST(!addresses_of("web0").contains("10.9.0.2"));
}

// The kernel refuses to move a bridge, so delete would never succeed.
OCIRUN_CHILD_TEST(what_somebody_else_put_under_its_index_is_not_brought_back, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  const std::string name = moves.move("web0", "net0");
  const std::string shown = show_in(moves.target, "link show " + name);
  ip_in(moves.target, "link del " + name);
  ip_in(moves.target, "link add web0 index " + std::to_string(std::stoi(shown)) + " type bridge");
  BOOST_TEST((moves.bring_back() == std::vector<std::string>{"web0"}));
  BOOST_TEST(!show("link").contains("web0:"));
  BOOST_TEST(show_in(moves.target, "link").contains("web0:"));
}

// The states in which the program leaves a device if it is killed after each line of the journal.
OCIRUN_CHILD_TEST(a_device_comes_back_from_wherever_its_mover_was_killed, CLONE_NEWNET)  // L-29
{
  const UniqueFd target = make_namespace();
  make_device();
  ip("addr add 10.9.0.2/24 dev web0");
  ip_in(target, "link add web0 type veth peer name x");  // never to be taken for ours
  const auto index_in = [](const std::string& line) { return std::stoi(line); };
  Departure left{.host_name = "web0",
                 .kind = "veth",
                 .passing_name = "oci0123456789ab",
                 .was_up = true,
                 .addresses = must(permanent_addresses(must(NetlinkSocket::open()),
                                                       index_in(show("link show web0"))))};
  const auto is_back = [&](const Journal& journal) {
    BOOST_TEST(must(return_net_devices(target, journal, [] {})).empty());
    BOOST_TEST(addresses_of("web0").contains("10.9.0.2/24"));
    BOOST_TEST(show("link show web0").contains(",UP"));
    BOOST_TEST(!(show("link") + show_in(target, "link")).contains("oci0"));
    BOOST_TEST(must(journal.read())[0].is_back);
  };
  const auto send_away = [&] {  // as the program does: by the kernel's one step
    must(send_link(must(Place::here()), must(Place::at(target)),
                   must(read_link(must(NetlinkSocket::open()), "web0")), left.passing_name));
  };
  for (int step = 0; step < 6; ++step) {
    const UniqueFd file(::memfd_create("journal", MFD_CLOEXEC));
    const Journal journal(file);
    must(journal.leaves(left));
    if (step > 0) send_away();
    if (step > 1)
      must(journal.arrived(left, index_in(show_in(target, "link show " + left.passing_name))));
    if (step > 2) ip_in(target, "link set " + left.passing_name + " name eth7");
    if (step > 3)  // from here on it is return_net_devices that was killed
      must(send_link(must(Place::at(target)), must(Place::here()),
                     must(read_link(must(NetlinkSocket::open_in(target)), "eth7")),
                     left.passing_name));
    if (step > 4) must(journal.came_home(left, index_in(show("link show " + left.passing_name))));
    if (step > 4) ip("link set " + left.passing_name + " name web0");
    is_back(journal);
  }
}

OCIRUN_CHILD_TEST(a_device_that_was_removed_is_told_once_and_another_one_is_not_taken_for_it,
                  CLONE_NEWNET) {
  const Moves moves;
  make_device();
  moves.move("web0", "eth0");
  ip_in(moves.target, "link del eth0");
  ip("link add web0 type veth peer name web1");
  BOOST_TEST(moves.bring_back() == Moves::Names{"web0"}, boost::test_tools::per_element());
  BOOST_TEST(!show("link show web0").contains(",UP"));
  BOOST_TEST(moves.bring_back().empty());
}

OCIRUN_CHILD_TEST(a_name_that_was_taken_on_the_host_is_an_error_until_it_is_free,
                  CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  ip("link add lan0 type veth peer name lan1");
  ip("addr add 10.9.0.2/24 dev web0");
  moves.move("web0", "eth0");
  moves.move("lan0", "eth1");
  ip("link add web0 type veth peer name x");
  int signs_of_life = 0;
  const std::string message =
      must_fail(return_net_devices(moves.target, moves.journal, [&] { ++signs_of_life; }));
  BOOST_TEST(signs_of_life == 2);
  BOOST_TEST(message ==
             "network device web0: name it web0 (a device has that name already; rename that one): "
             "netlink: file exists");
  BOOST_TEST(has_device("lan0"));
  ip("link set web0 name web9");
  BOOST_TEST(moves.bring_back().empty());
  BOOST_TEST(addresses_of("web0").contains("10.9.0.2/24"));
}

OCIRUN_CHILD_TEST(without_its_namespace_a_device_is_sought_on_the_host, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  moves.move("web0", "eth0");
  BOOST_TEST(must(return_net_devices(std::nullopt, moves.journal, [] {})) == Moves::Names{"web0"},
             boost::test_tools::per_element());
}

OCIRUN_CHILD_TEST(a_device_with_many_addresses_keeps_them_all, CLONE_NEWNET)  // L-29
{
  const Moves moves;
  make_device();
  std::string batch;
  for (int i = 0; i < 600; ++i)
    batch += "addr add fd00:" + std::to_string(i + 1) + "::1/64 dev web0 nodad\n";
  FILE* ip_batch = ::popen("ip -batch -", "w");
  BOOST_REQUIRE(ip_batch != nullptr);
  std::fputs(batch.c_str(), ip_batch);
  BOOST_REQUIRE(::pclose(ip_batch) == 0);
  moves.move("web0", "net0");
  const std::string addresses = show_in(moves.target, "-6 addr show dev net0 scope global");
  BOOST_TEST(std::count(addresses.begin(), addresses.end(), '\n') == 600);
}

BOOST_AUTO_TEST_SUITE_END()
