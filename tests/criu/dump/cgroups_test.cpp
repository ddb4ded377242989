#include "criu/dump/cgroups.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/criu/dump/image_text.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

std::string rights(unsigned mode, unsigned uid) {
  return number(1, mode) + number(2, uid) + number(3, uid);
}
std::string directory(const std::string& name, const std::string& more = "") {
  return text(1, name) + more + text(4, rights(040755, 0));
}
std::string controller(const std::string& name, const std::string& top) {
  return text(2, text(1, name) + text(2, top));
}
std::string set(const std::string& name, const std::string& path, unsigned prefix = 0) {
  return text(1, number(1, 2) + text(2, text(1, name) + text(2, path) + number(3, prefix)));
}

// "": the image is good.
std::string problem_of(const std::string& entry) {
  const linux::IdMap ids{.uids = {{0, 100000, 10}}, .gids = {{0, 100000, 10}}};
  const auto cgroups = must(parse_image_cgroups(image(ImageKind::kCgroups, {entry})));
  const auto checked = check_image_cgroups(cgroups, ids);
  return checked ? "" : checked.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_cgroups)

BOOST_AUTO_TEST_CASE(cgroups_below_that_of_init_are_good) {
  const std::string inner = text(2, directory("inner"));
  BOOST_TEST(problem_of("").empty());
  BOOST_TEST(problem_of(set("", "/a/b", 4) + set("", "/a/b/inner", 4) +
                        controller("", directory("a/b", inner))) == "");
  BOOST_TEST(problem_of(set("memory", "/a") + controller("memory", directory("a")) +
                        set("name=systemd", "/a", 2) +
                        controller("name=systemd", directory("a"))) == "");
  const std::string of_root = text(1, "a") + text(4, rights(040755, 100009));
  BOOST_TEST(problem_of(set("cpu", "/a") + controller("cpu", of_root)) == "");
}

BOOST_AUTO_TEST_CASE(a_hierarchy_of_two_controllers_has_them_in_one_name) {
  const std::string both = text(2, text(1, "cpu") + text(1, "cpuacct") + text(2, directory("a")));
  BOOST_TEST(problem_of(set("cpuacct,cpu", "/a") + both) == "");
  BOOST_TEST(problem_of(set("cpu", "/a") + both).contains("not below that of init"));
}

BOOST_AUTO_TEST_CASE(paths_that_lead_out_are_refused) {
  for (const char* path : {"", "/a", "..", "a/../..", "a//b", "./a", "a/"})
    BOOST_TEST(problem_of(set("", "/a") + controller("", directory(path)))
                   .contains("is no path of a cgroup"),
               path);
  using namespace std::string_literals;
  BOOST_TEST(problem_of(set("", "/a") + controller("", directory("a\0b"s)))
                 .contains("is no path of a cgroup"));
  for (const char* child : {"../b", "/b", ".."})
    BOOST_TEST(problem_of(set("", "/a") + controller("", directory("a", text(2, directory(child)))))
                   .contains("is no path of a cgroup"),
               child);
  const std::string property = text(3, text(1, "../x") + text(2, "1"));
  BOOST_TEST(problem_of(set("", "/a") + controller("", directory("a", property)))
                 .contains("is no file of a cgroup"));
}

BOOST_AUTO_TEST_CASE(a_cgroup_that_the_containers_does_not_replace_is_refused) {
  BOOST_TEST(problem_of(controller("", directory("a"))).contains("in which they have no process"));
  const std::string top = controller("", directory("a"));
  for (const char* path : {"/b", "/ab", "a", "/a/../b", ""})
    BOOST_TEST(problem_of(set("", path) + top).contains("not below that of init"), path);
  BOOST_TEST(problem_of(set("", "/a", 1) + top).contains("not below that of init"));
  BOOST_TEST(problem_of(set("", "/a", 3) + top).contains("not below that of init"));
  BOOST_TEST(problem_of(set("memory", "/a") + top).contains("not below that of init"));
  const std::string two = text(2, text(1, "") + text(2, directory("a")) + text(2, directory("b")));
  BOOST_TEST(problem_of(set("", "/a") + two).contains("two cgroups at its top"));
}

BOOST_AUTO_TEST_CASE(a_controllers_name_is_no_path_and_no_option) {
  for (const char* name : {"..", ".", "../x", "a/b", "cpu,release_agent=/x", "a b"})
    BOOST_TEST(problem_of(set(name, "/a") + controller(name, directory("a")))
                   .contains("is no name of a controller"),
               name);
  BOOST_TEST(problem_of(controller("cpu", directory("a")) + controller("cpu", directory("b")))
                 .contains("is there twice"));
}

BOOST_AUTO_TEST_CASE(owners_are_of_the_container_and_nobody_else_may_write) {
  const auto with = [](const std::string& given) {
    return problem_of(set("", "/a") + controller("", text(1, "a") + text(4, given)));
  };
  BOOST_TEST(with(rights(040755, 1000)).contains("who is not of the container"));
  BOOST_TEST(with(rights(040755, 100010)).contains("who is not of the container"));
  BOOST_TEST(with(rights(040757, 0)).contains("others must not be able to write"));
  const auto property = [](const std::string& name) {
    const std::string file = text(1, name) + text(2, "x") + text(3, rights(0, 4));
    return problem_of(set("", "/a") + controller("", directory("a", text(3, file))));
  };
  BOOST_TEST(property("cpu.shares").contains("who is not of the container"));
  BOOST_TEST(property("freezer.state") == "");
  const std::string twice = text(4, rights(040757, 0)) + text(4, rights(040755, 0));
  BOOST_TEST(problem_of(set("", "/a") + controller("", text(1, "a") + twice))
                 .contains("others must not be able to write"));
}

BOOST_AUTO_TEST_SUITE_END()
