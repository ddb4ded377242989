#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "runtime/init/executable.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

using Words = std::vector<std::string>;

/// find_home(uid) in a root directory whose /etc/passwd has the text `passwd`.
std::string home_with(const std::string& passwd, std::uint32_t uid) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkdir((scratch / "etc").c_str(), 0755) == 0);
  scratch.file("etc/passwd", passwd);
  const std::string answer = scratch.file("answer", "");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chroot(scratch.path().c_str()) == 0);
               ::alarm(kHangSeconds);
               std::ofstream("/answer") << find_home(uid);
             }) == 0);
  return slurp(answer);
}

Result<std::string> find(const std::string& name, const Words& environment) {
  return find_executable(name, environment, "in the container");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executable)

// --- the environment

BOOST_AUTO_TEST_CASE(a_variable_is_found_by_its_whole_name_and_the_last_one_wins) {
  const Words environment{"PATHX=no", "PATH=first", "XPATH=no", "PATH", "PATH=last=with=equals"};
  BOOST_TEST(std::string(find_variable(environment, "PATH")) == "last=with=equals");
  BOOST_TEST(std::string(find_variable({"HOME="}, "HOME")).empty());
  BOOST_TEST((find_variable({"HOME"}, "HOME") == nullptr));
  BOOST_TEST((find_variable({"HOMER=x"}, "HOME") == nullptr));
  BOOST_TEST((find_variable({}, "HOME") == nullptr));
}

BOOST_AUTO_TEST_CASE(each_name_remains_once_with_its_last_value_in_its_first_place) {  // P-5
  const Words expected{"A=3", "B=2", "HOME=/h", "C="};
  BOOST_TEST(
      normalize_environment({"A=1", "B=1", "HOME=/h", "A=2", "B=2", "C=", "A=3"}, "/x") == expected,
      boost::test_tools::per_element());
  const Words prefixes{"AB=1", "A=2", "ABC=3", "HOME=/x"};
  BOOST_TEST(normalize_environment({"AB=1", "A=2", "ABC=3"}, "/x") == prefixes,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(home_is_added_when_it_is_unset_or_empty) {
  BOOST_TEST(normalize_environment({}, "/root") == Words{"HOME=/root"},
             boost::test_tools::per_element());
  BOOST_TEST(normalize_environment({"HOME="}, "/root") == Words{"HOME=/root"},
             boost::test_tools::per_element());
  BOOST_TEST(normalize_environment({"HOME=/own"}, "/root") == Words{"HOME=/own"},
             boost::test_tools::per_element());
  BOOST_TEST(normalize_environment({"HOME=/own", "HOME="}, "/root") == Words{"HOME=/root"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_thousand_variables_take_no_time) {
  Words many;
  for (int i = 0; i < 2000; ++i) many.push_back("NAME" + std::to_string(i) + "=value");
  BOOST_TEST(seconds_of([&] { BOOST_TEST(normalize_environment(many, "/").size() == 2001u); }) <
             kHang);
}

// --- the home directory

BOOST_AUTO_TEST_CASE(the_home_is_the_one_that_the_containers_passwd_tells, *needs_root()) {
  const std::string passwd =
      "root:x:0:0:root:/root:/bin/sh\n"
      "web:x:1000:1000:Web,,,:/srv/web:/bin/sh\n"
      "also:x:1000:1000::/never:/bin/sh";
  BOOST_TEST(home_with(passwd, 0) == "/root");
  BOOST_TEST(home_with(passwd, 1000) == "/srv/web");
  BOOST_TEST(home_with(passwd, 1) == "/");
  BOOST_TEST(home_with(passwd, 100) == "/");
}

BOOST_AUTO_TEST_CASE(a_passwd_that_is_strange_gives_the_root_directory, *needs_root()) {
  using namespace std::string_literals;
  for (const std::string& passwd : {""s,
                                    "\n"s,
                                    "\n\n\n"s,
                                    ":"s,
                                    ":::::"s,
                                    "root"s,
                                    "root:x"s,
                                    "root:x:0"s,
                                    "root:x:0:0"s,
                                    "root:x:0:0:root"s,
                                    "root:x:0:0:root:"s,
                                    "root:x:0:0:root::/bin/sh"s,
                                    "root:x:0:0:root:relative:/bin/sh"s,
                                    "root:x:+0:0::/h:"s,
                                    "root:x: 0:0::/h:"s,
                                    "root:x:00x:0::/h:"s,
                                    "root:x:-0:0::/h:"s,
                                    "#root:x::0::/h:"s,
                                    "+::::::"s,
                                    "root:x:4294967296:0::/h:/s"s,
                                    std::string(1000, '\0'),
                                    std::string(100'000, ':'),
                                    std::string(100'000, 'x'),
                                    std::string(2 * 1024 * 1024, '\n') + "root:x:0:0::/h:/s\n"})
    BOOST_TEST_CONTEXT(passwd.substr(0, 40)) { BOOST_TEST(home_with(passwd, 0) == "/"); }
}

BOOST_AUTO_TEST_CASE(lines_that_are_broken_do_not_hide_a_good_one, *needs_root()) {
  BOOST_TEST(home_with("junk\n\n:::\nx:x:0:0:::\nr:x:0:0:relative:h:\nroot:x:0:0::/good:/s\n", 0) ==
             "/good");
  BOOST_TEST(home_with("root:x:0:0::/no-newline", 0) == "/no-newline");
  BOOST_TEST(home_with("a:x:5:5:a:/five:/s\r\nb:x:6:6:b:/six:/s\r\n", 6) == "/six");
}

BOOST_AUTO_TEST_CASE(a_passwd_that_is_no_file_gives_the_root_directory_and_no_wait, *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkdir((scratch / "etc").c_str(), 0755) == 0);
  const std::string path = scratch / "etc/passwd";
  const auto home = [&] {
    std::string answer = scratch.file("answer", "");
    BOOST_TEST(run_in_child(0, [&] {
                 ::alarm(kHangSeconds);  // kills this child if it hangs
                 BOOST_REQUIRE(::chroot(scratch.path().c_str()) == 0);
                 BOOST_REQUIRE(::chdir("/") == 0);
                 std::ofstream("/answer") << find_home(0);
               }) == 0);
    return slurp(answer);
  };
  BOOST_TEST(home() == "/");  // missing
  BOOST_REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
  BOOST_TEST(home() == "/");
  ::unlink(path.c_str());
  BOOST_REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  BOOST_TEST(home() == "/");
  ::rmdir(path.c_str());
  BOOST_REQUIRE(::symlink("passwd", path.c_str()) == 0);
  BOOST_TEST(home() == "/");
  ::unlink(path.c_str());
  BOOST_REQUIRE(::mknod(path.c_str(), S_IFCHR | 0666, (1 << 8) | 5) == 0);  // /dev/zero
  BOOST_TEST(home() == "/");
  ::unlink(path.c_str());
  // A symlink to a file inside the root is followed: NixOS and others have one.
  scratch.file("etc/real", "root:x:0:0::/linked:/s\n");
  BOOST_REQUIRE(::symlink("/etc/real", path.c_str()) == 0);
  BOOST_TEST(home() == "/linked");
}

// --- the executable: podman, Docker and CRI turn these errors into exit status 126 and 127

BOOST_AUTO_TEST_CASE(a_name_that_no_directory_of_path_has_is_told_in_gos_words) {
  const std::string expected = "exec: \"nosuch\": executable file not found in $PATH";
  BOOST_TEST(must_fail(find("nosuch", {"PATH=/bin:/usr/bin"})) == expected);
  BOOST_TEST(must_fail(find("nosuch", {})) == expected);
  BOOST_TEST(must_fail(find("nosuch", {"PATH="})) == expected);
  BOOST_TEST(must_fail(find("nosuch", {"PATH=/no/such:/dev/null:"})) == expected);
  BOOST_TEST(must_fail(find("", {"PATH=/bin"})) ==
             "exec: \"\": executable file not found in $PATH");
  BOOST_TEST(find("nosuch", {}).error().number() == 0);
}

BOOST_AUTO_TEST_CASE(a_path_that_is_missing_is_told_in_gos_words) {
  const auto missing = find("/no/such", {});
  BOOST_REQUIRE(!missing);
  BOOST_TEST(missing.error().message() ==
             "exec: \"/no/such\": stat /no/such: no such file or directory");
  BOOST_TEST(must_fail(find("./no-such", {"PATH=/bin"})) ==
             "exec: \"./no-such\": stat ./no-such: no such file or directory");
  BOOST_TEST(must_fail(find("/etc/passwd/x", {})) ==
             "exec: \"/etc/passwd/x\": stat /etc/passwd/x: not a directory");
}

BOOST_AUTO_TEST_CASE(what_may_not_be_executed_and_a_directory_are_permission_denied) {
  const Scratch scratch;
  const std::string plain = scratch.file("plain", "#!/bin/sh\n", 0644);
  const auto denied = find(plain, {});
  BOOST_REQUIRE(!denied);
  BOOST_TEST(denied.error().message() ==
             fmt::format("exec: \"{}\": it has no x bit for user {} (its mode is 0644: chmod +x in "
                         "the image or volume): permission denied",
                         plain, ::geteuid()));
  BOOST_TEST(denied.error().number() == EACCES);
  BOOST_TEST(must_fail(find(scratch.path(), {})) ==
             "exec: \"" + scratch.path() +
                 "\": it is a directory, not a program: permission denied");
  BOOST_TEST(must_fail(find("/", {})) ==
             "exec: \"/\": it is a directory, not a program: permission denied");
  for (const std::string& path : {plain, scratch.path()})
    BOOST_TEST(must_fail(find_executable(path, {}, "")) ==
               "exec: \"" + path + "\": permission denied");
}

BOOST_AUTO_TEST_CASE(the_first_directory_of_path_that_has_an_executable_of_that_name_wins) {  // P-6
  const Scratch scratch;
  for (const char* name : {"one", "two", "three", "four"})
    BOOST_REQUIRE(::mkdir((scratch / name).c_str(), 0755) == 0);
  scratch.file("one/tool", "not executable", 0644);
  BOOST_REQUIRE(::mkdir((scratch / "two/tool").c_str(), 0755) == 0);  // a directory
  scratch.script("three/tool", "exit 3");
  scratch.script("four/tool", "exit 4");
  const std::string path = "PATH=/no/such:" + scratch / "one" + ":" + scratch / "two" + ":" +
                           scratch / "three" + ":" + scratch / "four";
  BOOST_TEST(must(find("tool", {path})) == scratch / "three/tool");
  BOOST_TEST(must(find("tool", {"PATH=/ignored", path})) == scratch / "three/tool");
  BOOST_TEST(must(find(scratch / "four/tool", {path})) == scratch / "four/tool");
  BOOST_TEST(!find("tool", {"NOPATH=" + scratch / "four"}));
}

BOOST_AUTO_TEST_CASE(without_a_path_the_systems_own_directories_are_searched) {
  const std::string shell = must(find("sh", {}));
  BOOST_TEST((shell == "/bin/sh" || shell == "/usr/bin/sh"));
}

BOOST_AUTO_TEST_CASE(names_are_relative_to_the_working_directory_where_they_have_a_slash) {
  const Scratch scratch;
  scratch.script("tool", "exit 0");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chdir(scratch.path().c_str()) == 0);
               BOOST_TEST(must(find("./tool", {"PATH=/bin"})) == "./tool");
               BOOST_TEST(!find("tool", {"PATH=/bin"}));
               // An empty entry of PATH is the working directory: execvp(3).
               BOOST_TEST(must(find("tool", {"PATH=/no/such::/bin"})) == "./tool");
               BOOST_TEST(must(find("tool", {"PATH=:/bin"})) == "./tool");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_executable_is_searched_with_the_users_own_rights, *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::chmod(scratch.path().c_str(), 0755) == 0);
  BOOST_REQUIRE(::mkdir((scratch / "private").c_str(), 0700) == 0);
  scratch.script("private/tool", "exit 0");
  const std::string mine = scratch.script("mine", "exit 0");
  BOOST_REQUIRE(::chmod(mine.c_str(), 0700) == 0);
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setgid(12345) == 0);
               BOOST_REQUIRE(::setuid(12345) == 0);
               BOOST_TEST(must_fail(find(mine, {})) ==
                          "exec: \"" + mine +
                              "\": it has no x bit for user 12345 (its mode is 0700: chmod +x in "
                              "the image or volume): permission denied");
               BOOST_TEST(must_fail(find(scratch / "private/tool", {}))
                              .ends_with("in a directory without an x bit for user 12345: "
                                         "permission denied"));
               BOOST_TEST(must_fail(find("tool", {"PATH=" + scratch / "private"}))
                              .ends_with("executable file not found in $PATH"));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_dangling_symlink_is_missing_and_a_loop_is_an_error) {
  const Scratch scratch;
  BOOST_REQUIRE(::symlink("/no/such", (scratch / "dangling").c_str()) == 0);
  BOOST_REQUIRE(::symlink("loop", (scratch / "loop").c_str()) == 0);
  BOOST_TEST(find(scratch / "dangling", {}).error().number() == ENOENT);
  BOOST_TEST(find(scratch / "loop", {}).error().number() == ELOOP);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(passwd)

BOOST_AUTO_TEST_CASE(an_id_is_found_with_all_its_entries_in_their_order, *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkdir((scratch / "etc").c_str(), 0755) == 0);
  scratch.file("etc/passwd",
               "root:x:0:0:root:/root:/bin/sh\n\nshort:x:7\nweb:x:1000:100::/srv/web:/bin/sh\n"
               "again:x:1000:0:,,:relative\nodd:x:1000x:0::/odd:\nbig:x:4294967295:0::/"
               "big:\nlast:x:8:0::/l");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chroot(scratch.path().c_str()) == 0);
               const auto web = find_in_passwd(1000);
               BOOST_REQUIRE(web.size() == 2u);
               BOOST_TEST(web[0].name == "web");
               BOOST_TEST(web[0].home == "/srv/web");
               BOOST_TEST(web[1].name == "again");
               BOOST_TEST(web[1].home == "relative");
               BOOST_TEST(find_in_passwd(0).at(0).name == "root");
               BOOST_TEST(find_in_passwd(7).at(0).home.empty());
               BOOST_TEST(find_in_passwd(8).at(0).home == "/l");
               BOOST_TEST(find_in_passwd(9).empty());
               BOOST_TEST(find_in_passwd(4294967295).empty());
               BOOST_REQUIRE(::unlink("/etc/passwd") == 0);
               BOOST_TEST(find_in_passwd(0).empty());
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
