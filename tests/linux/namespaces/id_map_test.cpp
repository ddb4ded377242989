#include "linux/namespaces/id_map.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr std::uint32_t kLast = 4294967294;  // the last id there is

std::vector<IdMapping> lines(std::size_t count) {
  std::vector<IdMapping> mappings;
  // Short numbers: the kernel wants the whole text in less than a page, too.
  for (std::uint32_t i = 0; i < count; ++i) mappings.push_back({i, i, 1});
  return mappings;
}

UniqueFd proc() { return must(sys::open("/proc", O_RDONLY | O_DIRECTORY)); }

/// A process of a new user namespace that only waits.
class Sleeper {
 public:
  Sleeper() : child_(must(clone_process(CLONE_NEWUSER, Fd{}, Parentage::kMine))) {
    if (child_.pid == 0)
      for (;;) ::pause();
  }
  ~Sleeper() {
    ::kill(child_.pid, SIGKILL);
    ::waitpid(child_.pid, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  int pid() const { return child_.pid; }
  std::string file(const char* name) const {
    return slurp("/proc/" + std::to_string(child_.pid) + "/" + name);
  }

 private:
  Child child_;
};

/// The numbers of a map as the kernel prints it, its columns narrowed.
std::string narrow(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  for (std::string word; stream >> word;) result += word + " ";
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(id_map)

BOOST_AUTO_TEST_CASE(an_id_is_mapped_by_the_line_that_holds_it) {  // L-9
  const IdMap map{.uids = {{0, 100000, 1}, {1, 200000, 65535}}, .gids = {{0, 7, 10}}};
  BOOST_TEST(*map.host_uid(*Uid::make(0)) == 100000u);
  BOOST_TEST(*map.host_uid(*Uid::make(1)) == 200000u);
  BOOST_TEST(*map.host_uid(*Uid::make(65535)) == 265534u);
  BOOST_TEST(!map.host_uid(*Uid::make(65536)).has_value());
  BOOST_TEST(*map.host_gid(*Gid::make(9)) == 16u);
  BOOST_TEST(!map.host_gid(*Gid::make(10)).has_value());
  BOOST_TEST(!map.empty());
  BOOST_TEST(IdMap{}.empty());
  BOOST_TEST(!IdMap{}.host_uid(Uid{}).has_value());
}

BOOST_AUTO_TEST_CASE(the_last_id_is_mapped_without_wrapping) {
  const IdMap map{.uids = {{kLast, 5, 1}}, .gids = {{10, kLast - 1, 2}}};
  BOOST_TEST(*map.host_uid(*Uid::make(kLast)) == 5u);
  BOOST_TEST(!map.host_uid(Uid{}).has_value());
  BOOST_TEST(*map.host_gid(*Gid::make(11)) == kLast);
}

BOOST_AUTO_TEST_CASE(valid_maps_are_accepted) {
  BOOST_TEST(check_id_mappings({{0, 100000, 65536}}).has_value());
  BOOST_TEST(check_id_mappings({{0, 0, kLast + 1}}).has_value());  // the kernel's own first map
  BOOST_TEST(check_id_mappings({{0, 1000, 1}, {1, 100000, 999}, {1000, 0, 1}}).has_value());
  BOOST_TEST(check_id_mappings({{kLast, kLast, 1}}).has_value());
  BOOST_TEST(check_id_mappings(lines(kMaxIdMappings)).has_value());
}

BOOST_AUTO_TEST_CASE(a_size_of_zero_is_refused) {
  BOOST_TEST(must_fail(check_id_mappings({{0, 1, 1}, {5, 6, 0}})).find("size") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(overlaps_are_refused_on_both_sides_whatever_their_order) {
  for (const auto& mappings : std::vector<std::vector<IdMapping>>{
           {{0, 1000, 10}, {9, 5000, 1}},               // the end of the other
           {{9, 5000, 1}, {0, 1000, 10}},               // the same, turned round
           {{0, 1000, 10}, {0, 5000, 1}},               // the beginning
           {{0, 1000, 10}, {20, 3000, 5}, {24, 1, 1}},  // not the first two
           {{0, 0, kLast + 1}, {kLast, 5, 1}},
       })
    BOOST_TEST(must_fail(check_id_mappings(mappings)).find("container id") != std::string::npos);
  for (const auto& mappings : std::vector<std::vector<IdMapping>>{
           {{0, 1000, 10}, {50, 1009, 1}},
           {{0, 1009, 1}, {50, 1000, 10}},
           {{0, 5, 1}, {1, 5, 1}},
       })
    BOOST_TEST(must_fail(check_id_mappings(mappings)).find("host id") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ids_beyond_the_last_one_are_refused) {
  for (const auto& line : std::vector<IdMapping>{{0, 1, kLast + 1},
                                                 {1, 0, kLast + 1},
                                                 {kLast, 0, 2},
                                                 {0, kLast, 2},
                                                 {0xFFFFFFFF, 0, 1},
                                                 {0, 0xFFFFFFFF, 1},
                                                 {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}})
    BOOST_TEST(must_fail(check_id_mappings({line})).find("4294967294") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_kernels_limit_of_lines_is_kept) {
  BOOST_TEST(must_fail(check_id_mappings(lines(341))).find("340") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(maps_reach_the_kernel_as_they_were_given, *needs_root()) {  // L-9
  const Sleeper sleeper;
  must(write_id_maps(proc(), sleeper.pid(),
                     {.uids = {{0, 100000, 1000}, {1000, 7, 1}}, .gids = {{5, 200000, 10}}}));
  BOOST_TEST(narrow(sleeper.file("uid_map")) == "0 100000 1000 1000 7 1 ");
  BOOST_TEST(narrow(sleeper.file("gid_map")) == "5 200000 10 ");
  BOOST_TEST(sleeper.file("setgroups") == "allow\n");  // root may grant groups
}

// check_id_mappings and the kernel agree on what is valid.
BOOST_AUTO_TEST_CASE(the_kernel_takes_the_largest_maps_that_the_check_accepts, *needs_root()) {
  {
    const Sleeper sleeper;
    must(write_id_maps(proc(), sleeper.pid(), {.uids = lines(340), .gids = lines(340)}));
    const std::string map = sleeper.file("uid_map");
    BOOST_TEST(std::ranges::count(map, '\n') == 340);
  }
  const Sleeper sleeper;
  must(write_id_maps(proc(), sleeper.pid(),
                     {.uids = {{0, 0, kLast + 1}}, .gids = {{kLast, kLast, 1}}}));
  BOOST_TEST(narrow(sleeper.file("uid_map")) == "0 0 4294967295 ");
}

BOOST_AUTO_TEST_CASE(a_map_is_written_once, *needs_root()) {
  const Sleeper sleeper;
  const IdMap map{.uids = {{0, 100000, 10}}, .gids = {{0, 100000, 10}}};
  must(write_id_maps(proc(), sleeper.pid(), map));
  const auto again = write_id_maps(proc(), sleeper.pid(), map);
  BOOST_TEST(!again);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_is_an_error_that_names_the_file, *needs_root()) {
  const auto written = write_id_maps(proc(), 999999999, {.uids = {{0, 0, 1}}, .gids = {{0, 0, 1}}});
  BOOST_REQUIRE(!written);
  BOOST_TEST(written.error().number() == ENOENT);
  BOOST_TEST(written.error().message().find("uid_map") != std::string::npos);
}

// user_namespaces(7): without privilege only the own id, and only with setgroups denied first.
BOOST_AUTO_TEST_CASE(an_unprivileged_user_maps_the_own_id_and_gives_up_setgroups, *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setgid(23456) == 0);
               BOOST_REQUIRE(::setuid(12345) == 0);
               ::prctl(PR_SET_DUMPABLE, 1);  // its /proc files would belong to root
               const Sleeper sleeper;
               must(write_id_maps(proc(), sleeper.pid(),
                                  {.uids = {{0, 12345, 1}}, .gids = {{0, 23456, 1}}}));
               BOOST_TEST(narrow(sleeper.file("uid_map")) == "0 12345 1 ");
               BOOST_TEST(narrow(sleeper.file("gid_map")) == "0 23456 1 ");
               BOOST_TEST(sleeper.file("setgroups") == "deny\n");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(an_unprivileged_user_without_a_grant_learns_where_it_would_be_listed,
                     *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setgid(23456) == 0);
               BOOST_REQUIRE(::setuid(12345) == 0);
               ::prctl(PR_SET_DUMPABLE, 1);
               const Sleeper sleeper;
               const std::string text = must_fail(write_id_maps(
                   proc(), sleeper.pid(), {.uids = {{0, 0, 1000}}, .gids = {{0, 0, 1000}}}));
               // Either it is not installed, or it says no; never a bare errno.
               BOOST_TEST(text.find("newuidmap") != std::string::npos);
               BOOST_TEST(sleeper.file("uid_map").empty());
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_user_namespace_is_made_with_the_map_and_nobody_in_it,
                     *needs_root()) {  // M-8
  const std::string children_before = children_of_this_process();
  const Descriptors descriptors_before = open_descriptors();
  {
    const UniqueFd user = must(
        make_user_namespace(proc(), {.uids = {{0, 300000, 4096}}, .gids = {{0, 400000, 4096}}}));
    BOOST_TEST((::fcntl(user.get(), F_GETFD) & FD_CLOEXEC) != 0);
    BOOST_TEST(children_of_this_process() == children_before);
    BOOST_TEST(run_in_child(0, [&] {
                 BOOST_REQUIRE(::setns(user.get(), CLONE_NEWUSER) == 0);
                 BOOST_TEST(narrow(slurp("/proc/self/uid_map")) == "0 300000 4096 ");
                 BOOST_TEST(narrow(slurp("/proc/self/gid_map")) == "0 400000 4096 ");
               }) == 0);
  }
  BOOST_TEST(open_descriptors() == descriptors_before);
}

BOOST_AUTO_TEST_CASE(a_user_namespace_that_cannot_be_mapped_leaves_no_process, *needs_root()) {
  const std::string children_before = children_of_this_process();
  const Descriptors descriptors_before = open_descriptors();
  const std::string text = must_fail(make_user_namespace(
      proc(), {.uids = {{0, 1, 10}, {5, 100, 1}}, .gids = {{0, 1, 10}}}));  // an overlap
  BOOST_TEST(text.find("write uid_map") != std::string::npos);
  BOOST_TEST(children_of_this_process() == children_before);
  BOOST_TEST(open_descriptors() == descriptors_before);
}

BOOST_AUTO_TEST_SUITE_END()
