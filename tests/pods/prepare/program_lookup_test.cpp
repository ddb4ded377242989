// The program of a container in its root filesystem, before anything is started.

#include "pods/prepare/program_lookup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

struct LookupScene {
  Scratch scratch;
  ProgramPlace place{.mounted = {}, .name = {}, .path = "/bin:relative::/opt", .cwd = "/work"};

  LookupScene() {
    for (const char* name :
         {"root", "root/bin", "root/opt", "root/work", "root/work/relative", "root/vol"})
      ::mkdir((scratch / name).c_str(), 0755);
    for (const char* name : {"root/bin/tool", "root/work/here", "root/work/relative/near"})
      program(name, 0755);
    program("root/bin/text", 0644);
    link("/bin/tool", "root/opt/absolute");
    link("../../../../../bin/tool", "root/opt/upwards");
    link("/vol/tool", "root/opt/into");
    link("loop", "root/opt/loop");
    link("/vol", "root/data");
  }
  void program(const char* name, mode_t mode) {
    scratch.file(name, "");
    ::chmod((scratch / name).c_str(), mode);
  }
  void link(const char* target, const char* name) {
    BOOST_REQUIRE(::symlink(target, (scratch / name).c_str()) == 0);
  }
  std::string fault(const char* name) {
    place.name = name;
    const auto root = must(linux::SafeDir::open_root(HostPath(scratch / "root")));
    const auto found = look_program_up(place, root);
    return found ? "" : found.error().message();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(program_lookup, LookupScene)

BOOST_AUTO_TEST_CASE(programs_that_are_there) {
  for (const char* name : {"/bin/tool", "tool", "here", "./here", "near", "relative/near",
                           "/opt/absolute", "absolute", "/opt/upwards", "/bin/./../bin/tool"})
    BOOST_TEST(fault(name) == "");
}

BOOST_AUTO_TEST_CASE(programs_that_are_not_there_in_the_words_of_the_runtime) {
  BOOST_TEST(fault("/bin/nothing") ==
             "exec: \"/bin/nothing\": stat /bin/nothing: no such file or directory");
  BOOST_TEST(fault("/bin/tool/x").ends_with("no such file or directory"));
  BOOST_TEST(fault("nothing") == "exec: \"nothing\": executable file not found in $PATH");
  BOOST_TEST(fault("/bin/text") ==
             "exec: \"/bin/text\": it has no x bit (chmod +x in the image): permission denied");
  BOOST_TEST(fault("/bin") ==
             "exec: \"/bin\": it is a directory, not a program: permission denied");
  BOOST_TEST(
      fault("text") ==
      "exec: \"text\": /bin/text: it has no x bit (chmod +x in the image): permission denied");
  BOOST_TEST(fault("/opt/into").ends_with("no such file or directory"));
}

BOOST_AUTO_TEST_CASE(a_program_below_a_mount_counts_as_found_by_whatever_way) {
  place.mounted = {"/vol"};
  for (const char* name : {"/vol/tool", "/opt/into", "/data/tool", "into"})
    BOOST_TEST(fault(name) == "");
  BOOST_TEST(fault("/bin/nothing") != "");
  place.mounted = {"/data"};  // a mount on a symlink is where the symlink leads
  BOOST_TEST(fault("/vol/tool") == "");
  place.mounted = {"/bin/nothing"};
  BOOST_TEST(fault("nothing") == "");
}

BOOST_AUTO_TEST_CASE(directories_that_the_runtime_makes_for_a_mount_or_the_cwd_count_as_there) {
  link("/new/deep/volume/tool", "root/bin/by-link");
  BOOST_TEST(fault("/new/deep/volume/tool").ends_with("no such file or directory"));
  BOOST_TEST(fault("by-link") != "");
  place.mounted = {"/new/deep/volume"};
  for (const char* name : {"/new/deep/volume/tool", "by-link", "/new/deep/../../bin/tool"})
    BOOST_TEST(fault(name) == "");
  BOOST_TEST(fault("/new/deep/other").ends_with("no such file or directory"));
  BOOST_TEST(fault("/new/deep").contains("it is a directory"));
  place.path += ":/new/deep/volume";
  BOOST_TEST(fault("nothing") == "");
  place.mounted.clear();
  place.cwd = "/made/here";
  BOOST_TEST(fault("../../bin/tool") == "");
  BOOST_TEST(fault("./tool").ends_with("no such file or directory"));
  place.mounted = {"/"};
  BOOST_TEST(fault("/bin/nothing") == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_told_is_left_to_the_runtime) {
  BOOST_TEST(fault("/opt/loop") == "");
  place.path.clear();
  BOOST_TEST(fault("nothing") == "");
}

BOOST_AUTO_TEST_CASE(an_image_with_endless_paths_ends_the_walk) {
  std::string path;
  for (int i = 0; i < 2000; ++i) path += "./bin/../";
  place.path = path + "nowhere";
  BOOST_TEST(fault("nothing") != "");
  for (int i = 0; i < 10; ++i) place.path += ":/" + path + "nowhere";
  BOOST_TEST(fault("nothing") == "");
}

BOOST_AUTO_TEST_CASE(a_hook_may_bring_the_program) {
  const std::string start = R"({"root": {"path": "root"}, "process": {"args": ["/bin/nothing"],
    "cwd": "/", "env": ["PATH=/bin"]}, "mounts": [{"destination": "/vol"}])";
  scratch.file("config.json", start + "}");
  BOOST_TEST(must_fail(check_program(scratch.path())).contains("/bin/nothing"));
  scratch.file("config.json", start + R"(, "hooks": {"createRuntime": []}})");
  must(check_program(scratch.path()));
}

BOOST_AUTO_TEST_SUITE_END()
