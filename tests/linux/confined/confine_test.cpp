// What a process that reads what strangers have written sees and may do. Each test looks around in
// a fork.

#include "linux/confined/confine.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "linux/process/capabilities.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/confined/confined.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr std::uint64_t kMostBytes = 4096, kMostMemory = std::uint64_t{512} << 20;

Result<void> confine_up_to(Fd caller, int last_descriptor) {
  return confine_to_descriptors({.caller = caller,
                                 .last_descriptor = last_descriptor,
                                 .file_bytes = kMostBytes,
                                 .memory = kMostMemory});
}

Result<void> confine(Fd report) { return confine_up_to(report, report.value); }

/// Without CAP_SYS_ADMIN, which a container often lacks.
Result<void> confine_without_mounts(Fd report) {
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21;
  OCIRUN_TRY_ASSIGN(const auto grantable, linux::grantable_capabilities({}));
  linux::CapabilitySets sets;
  sets.permitted = sets.effective =
      linux::CapabilitySet::from_bits(grantable.permitted.bits() & ~kSysAdmin);
  OCIRUN_TRY(linux::set_capabilities(sets));
  return confine(report);
}

std::string seen(const std::function<std::string()>& look) {
  return say_confined(confine, look).text;
}

/// The names in "/", without "." and "..".
std::string names_in_root() {
  DIR* const root = ::opendir("/");
  if (root == nullptr) return "cannot be opened";
  std::string names;
  while (const dirent* entry = ::readdir(root))
    if (entry->d_name[0] != '.') names += fmt::format("{} ", entry->d_name);
  ::closedir(root);
  return names;
}

std::string ids() {
  uid_t uids[3];
  gid_t gids[3];
  ::getresuid(&uids[0], &uids[1], &uids[2]);
  ::getresgid(&gids[0], &gids[1], &gids[2]);
  return fmt::format("{} {}, {} groups", fmt::join(uids, " "), fmt::join(gids, " "),
                     ::getgroups(0, nullptr));
}

std::string powers() {
  int bounding = 0;
  for (unsigned long c = 0; ::prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; ++c)
    bounding += ::prctl(PR_CAPBSET_READ, c, 0, 0, 0);
  return fmt::format("permitted {}, bounding {}, no_new_privs {}, dumpable {}",
                     must(linux::grantable_capabilities({})).permitted.bits(), bounding,
                     ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), ::prctl(PR_GET_DUMPABLE));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(confined_to_descriptors, *needs_root())

BOOST_AUTO_TEST_CASE(the_process_is_nobody_and_has_no_power) {
  BOOST_TEST(seen(ids) == "65534 65534 65534 65534 65534 65534, 0 groups");
  BOOST_TEST(seen(powers) == "permitted 0, bounding 0, no_new_privs 1, dumpable 0");
  BOOST_TEST(seen([] { return ::setuid(0) == 0 ? "root" : errno_text(errno); }) ==
             "operation not permitted");
}

BOOST_AUTO_TEST_CASE(the_process_has_an_empty_root_that_stays_empty) {
  BOOST_TEST(names_in_root() != "");
  BOOST_TEST(seen(names_in_root) == "");
  BOOST_TEST(seen([] { return ::mkdir("/x", 0700) == 0 ? "made" : errno_text(errno); }) ==
             "read-only file system");
  BOOST_TEST(seen([] { return std::to_string(::access("../../etc/passwd", F_OK)); }) == "-1");
}

BOOST_AUTO_TEST_CASE(without_the_right_to_mount_the_root_has_numbers_of_descriptors_alone) {
  const std::string names = say_confined(confine_without_mounts, names_in_root).text;
  BOOST_TEST(names.starts_with("0 1 2 "), names);
  BOOST_TEST(std::ranges::all_of(names, [](char c) { return c == ' ' || (c >= '0' && c <= '9'); }),
             names);
  BOOST_TEST(say_confined(confine_without_mounts, powers).text ==
             "permitted 0, bounding 0, no_new_privs 1, dumpable 0");
  BOOST_TEST(say_confined(confine_without_mounts, [] {
               return std::to_string(::access("../../etc/passwd", F_OK));
             }).text == "-1");
}

OCIRUN_CHILD_TEST(where_nobody_has_no_id_the_process_stays_who_it_is_without_power, 0) {
  const ChildMaps one{.uids = "0 0 1", .gids = "0 0 1"};
  BOOST_TEST(run_in_child(
                 CLONE_NEWUSER,
                 [] {
                   BOOST_TEST(seen(ids).starts_with("0 0 0 0 0 0, "));
                   BOOST_TEST(seen(powers) ==
                              "permitted 0, bounding 0, no_new_privs 1, dumpable 0");
                 },
                 one) == 0);
}

BOOST_AUTO_TEST_CASE(later_descriptors_are_closed_and_files_stay_small) {
  int later = -1;
  const auto with_another = [&](Fd report) {
    later = ::fcntl(report.value, F_DUPFD, report.value + 1);
    return confine(report);
  };
  BOOST_TEST(say_confined(with_another, [&] {
               rlimit size{}, core{};
               ::getrlimit(RLIMIT_FSIZE, &size);
               ::getrlimit(RLIMIT_CORE, &core);
               return fmt::format("{} {} {}", ::fcntl(later, F_GETFD), size.rlim_max,
                                  core.rlim_max);
             }).text == "-1 4096 0");
}

BOOST_AUTO_TEST_CASE(the_process_ends_with_its_caller) {
  BOOST_TEST(seen([] {
               int signal = 0;
               ::prctl(PR_GET_PDEATHSIG, &signal);
               return std::to_string(signal);
             }) == std::to_string(SIGKILL));
  // The caller has died before the process could say that it wants to be killed.
  BOOST_TEST(say_confined(
                 [](Fd report) {
                   linux::Pipe unread = must(linux::make_pipe());
                   unread.reader.reset();
                   const int last = std::max(report.value, unread.writer.get());
                   return confine_up_to(unread.writer, last);
                 },
                 [] { return std::string("went on"); })
                 .text == "the caller has ended");
}

BOOST_AUTO_TEST_SUITE_END()
