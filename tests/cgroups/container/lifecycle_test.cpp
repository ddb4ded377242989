#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "cgroups/statistics/stats.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

BOOST_AUTO_TEST_SUITE(lifecycle, *boost::unit_test::precondition(host_has()))

namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void make(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) throw std::runtime_error("mkdir " + path);
}

/// Nothing named like this test's cgroups is left in any hierarchy.
bool parents_are_left() {
  const std::string parent = "/ocirun-test-" + std::to_string(::getpid());
  return std::ranges::any_of(host_layout().hierarchies, [&](const Hierarchy& h) {
    return ::access((h.mount_point.string() + parent).c_str(), F_OK) == 0;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_made_in_every_hierarchy_and_removed_with_its_parents)  // R-1 R-7
{
  {
    TestCgroup cgroup("a/b/c");
    BOOST_TEST(!cgroup.exists());
    cgroup.create();
    BOOST_TEST(cgroup->record().path == cgroup.path());
    BOOST_TEST(cgroup->record().directories.size() == host_layout().hierarchies.size());
    for (const auto& [controllers, path] : cgroup->record().directories)
      BOOST_TEST(::access(path.c_str(), F_OK) == 0, path);
    BOOST_TEST(cgroup->record().created_parents.size() == 3 * cgroup->record().directories.size());
  }
  BOOST_TEST(!parents_are_left());
}

BOOST_AUTO_TEST_CASE(the_default_place_leaves_nothing_either)
{
  const auto cgroup =
      must(make_cgroup(host_layout(), must(place("test/" + std::to_string(::getpid()), "unused"))));
  must(cgroup->create({}));
  const Record without_parents{.path = cgroup->record().path,
                               .directories = cgroup->record().directories,
                               .created_parents = {}};  // as the intent of a crash has it
  must(must(open_cgroup(without_parents))->destroy());
  for (const auto& [controllers, path] : cgroup->record().directories)
    BOOST_TEST(::access(path.substr(0, path.rfind('/')).c_str(), F_OK) != 0, path);
}

BOOST_AUTO_TEST_CASE(a_parent_that_others_use_stays) {
  TestCgroup first("shared/one");
  first.create();
  {
    TestCgroup second("shared/two");
    second.create();
    BOOST_TEST(second->record().created_parents.empty());
  }
  BOOST_TEST(first.exists());
}

BOOST_AUTO_TEST_CASE(a_parent_that_was_made_goes_with_the_last_container_whoever_made_it) {
  {
    TestCgroup second("shared/deep/two");
    {
      TestCgroup first("shared/deep/one");
      first.create();
      second.create();
      BOOST_TEST(second->record().created_parents.empty());
    }
    BOOST_TEST(second.exists());
    BOOST_TEST(parents_are_left());
  }
  BOOST_TEST(!parents_are_left());
}

BOOST_AUTO_TEST_CASE(a_parent_goes_also_above_one_that_the_last_container_made_itself) {
  {
    TestCgroup second("shared/own/two");
    {
      TestCgroup first("shared/one");
      first.create();
      second.create();
      BOOST_TEST(!second->record().created_parents.empty());
    }
    BOOST_TEST(parents_are_left());
  }
  BOOST_TEST(!parents_are_left());
}

BOOST_AUTO_TEST_CASE(a_parent_that_somebody_else_made_stays_empty) {
  const std::string parent = "/ocirun-test-" + std::to_string(::getpid());
  const auto layout = host_layout();
  for (const Hierarchy& hierarchy : layout.hierarchies)
    make(hierarchy.mount_point.string() + parent);
  {
    TestCgroup cgroup("child");
    cgroup.create();
  }
  for (const Hierarchy& hierarchy : layout.hierarchies)
    BOOST_TEST(::rmdir((hierarchy.mount_point.string() + parent).c_str()) == 0);
}

BOOST_AUTO_TEST_CASE(what_failed_leaves_nothing,  // ERR-1
                     *boost::unit_test::precondition(host_has("devices"))) {
  {
    TestCgroup cgroup("failing");
    DeviceRule wide = allow_all(), part = allow_all();
    wide.type = part.type = 'c';
    wide.major = part.major = 10;
    part.minor = 200;
    part.allow = false;
    const std::vector<DeviceRule> hole = {wide, part};
    BOOST_TEST(must_fail(cgroup->create(hole)).contains("/linux/resources/devices"));
    BOOST_TEST(!cgroup.exists());
  }
  BOOST_TEST(!parents_are_left());
}

BOOST_AUTO_TEST_CASE(a_process_joins_all_hierarchies) {
  TestCgroup cgroup("join");
  cgroup.create();
  Member member(cgroup);
  std::istringstream lines(file_text("/proc/" + std::to_string(member.pid()) + "/cgroup"));
  std::size_t joined = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(":" + cgroup.path())) ++joined;
  BOOST_TEST(joined == cgroup->record().directories.size());
  const std::vector<int> members = {member.pid()};
  BOOST_TEST(must(cgroup->pids()) == members, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_second_container_is_refused_while_the_first_lives)
{
  TestCgroup first("twice");
  first.create();
  const auto second = must(open_cgroup(first->record()));
  {
    Member member(first);
    const std::string message = must_fail(second->create({}));
    BOOST_TEST(message.starts_with(
        fmt::format("container's cgroup is not empty: process {} (", member.pid())));
    BOOST_TEST(message.contains(") in /sys/fs/cgroup/"));
    BOOST_TEST(message.contains("--cgroup-manager=disabled"));
    must(second->destroy());  // an undo must not harm the first
    BOOST_TEST(first.exists());
    BOOST_TEST(::kill(member.pid(), 0) == 0);
    BOOST_TEST(must(first->pids()).size() == 1u);
  }
  must(second->create({}));
}

BOOST_AUTO_TEST_CASE(a_process_below_counts_too)
{
  TestCgroup outer("outer"), inner("outer/inner");
  outer.create();
  inner.create();
  Member member(inner);
  BOOST_TEST(must_fail(must(open_cgroup(outer->record()))->create({}))
                 .starts_with("container's cgroup is not empty: process "));
}

BOOST_AUTO_TEST_CASE(a_process_of_another_pid_namespace_counts_too,
                     *boost::unit_test::precondition(host_has("unified"))) {
  TestCgroup cgroup("foreign", unified_layout());
  cgroup.create();
  Member member(cgroup);
  const int status = ocirun::test::run_in_child(CLONE_NEWPID, [&] {
    BOOST_TEST(must_fail(must(open_cgroup(cgroup->record()))->create({}))
                   .starts_with("container's cgroup is not empty: a process of another pid "
                                "namespace in /sys/fs/cgroup/"));
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_frozen_cgroup_is_refused)
{
  TestCgroup cgroup("frozen");
  cgroup.create();
  must(cgroup->freeze(FreezerState::kFrozen));
  const auto again = must(open_cgroup(cgroup->record()));
  BOOST_TEST(must_fail(again->create({})) == "container's cgroup unexpectedly frozen");
  TestCgroup below("frozen/below");
  BOOST_TEST(must_fail(below->create({})) == "container's cgroup unexpectedly frozen");
  must(cgroup->freeze(FreezerState::kThawed));
  must(again->create({}));
}

BOOST_AUTO_TEST_CASE(missing_is_no_error_when_it_is_removed)
{
  TestCgroup cgroup("missing");
  must(cgroup->destroy());
  BOOST_TEST(must(cgroup->pids()).empty());
  must(cgroup->signal_all(SIGKILL));
  cgroup.create();
  must(cgroup->destroy());
  must(cgroup->destroy());
}

BOOST_AUTO_TEST_CASE(nested_cgroups_and_their_processes_go_with_it)
{
  TestCgroup cgroup("nested");
  cgroup.create();
  Member member(cgroup);
  for (const auto& [controllers, path] : cgroup->record().directories) {
    std::string nested = path;
    for (int depth = 0; depth < 5; ++depth) {
      make(nested + "/side");
      make(nested += "/deeper");
    }
    // In each hierarchy the process sits somewhere below.
    std::ofstream(nested + "/cgroup.procs") << member.pid();
  }
  must(cgroup->destroy());
  BOOST_TEST(!cgroup.exists());
  BOOST_TEST(member.wait() == -SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_very_deep_nest_needs_no_more_descriptors)
{
  TestCgroup cgroup("deep");
  cgroup.create();
  const Directory top = cgroup.directory(cgroup->record().directories.front().first);
  UniqueFd current(::open(top.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 200; ++depth) {
    BOOST_REQUIRE(::mkdirat(current.get(), "d", 0755) == 0);
    current.reset(::openat(current.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
    BOOST_REQUIRE(current.get() >= 0);
  }
  current.reset();
  const auto destroy_with_few_descriptors = [&] {
    rlimit few{.rlim_cur = 32, .rlim_max = 32};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) ::_exit(1);
    const auto destroyed = cgroup->destroy();
    if (!destroyed) BOOST_ERROR(destroyed.error().message());
  };
  BOOST_TEST(ocirun::test::run_in_child(0, destroy_with_few_descriptors) == 0);
  BOOST_TEST(!cgroup.exists());
}

BOOST_AUTO_TEST_CASE(who_is_inside_cannot_remove_it) {
  TestCgroup cgroup("self");
  cgroup.create();
  Member member(cgroup, [&] {
    const auto destroyed = must(open_cgroup(cgroup->record()))->destroy();
    return !destroyed && destroyed.error().message().contains("is in it itself") ? 0 : 1;
  });
  BOOST_TEST(member.wait() == 0);
}

BOOST_AUTO_TEST_CASE(creators_and_removers_of_one_parent_do_not_disturb_each_other) {
  const std::string parent = "/ocirun-test-" + std::to_string(::getpid()) + "/crowd/";
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto cgroup = must(make_cgroup(host_layout(), {parent + std::to_string(child)}));
      for (int round = 0; round < 25; ++round) {
        Result<void> done = cgroup->create({});
        if (done) done = cgroup->destroy();
        if (!done) BOOST_ERROR(done.error().message());
        if (!done) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    BOOST_TEST(status == 0);
  }
  // The container that made a parent need not be the last to use it. In that case the parent may
  // stay.
  for (const Hierarchy& hierarchy : host_layout().hierarchies) {
    std::string left = hierarchy.mount_point.string() + parent;
    left.pop_back();
    must(remove_directory(left));
    must(remove_directory(left.substr(0, left.rfind('/'))));
  }
}

BOOST_AUTO_TEST_CASE(exec_joins_a_cgroup_below) {
  TestCgroup cgroup("exec"), below("exec/sub");
  cgroup.create();
  below.create();
  const std::vector<std::string> all = {"sub"};
  Member member(must(cgroup->open_for_join(all)), Member::sleep_forever);
  const std::vector<int> members = {member.pid()};
  BOOST_TEST(must(below->pids()) == members, boost::test_tools::per_element());

  const auto refused = [&](const std::string& path) {
    const std::vector<std::string> paths = {path};
    return must_fail(cgroup->open_for_join(paths));
  };
  BOOST_TEST(refused("../exec").contains("\"..\" is not allowed"));
  BOOST_TEST(refused("cpu:/sub/../..").contains("\"..\" is not allowed"));
  BOOST_TEST(refused("nonsense:sub").contains("no nonsense controller"));
  BOOST_TEST(refused("missing").contains("no such file or directory"));
}

BOOST_AUTO_TEST_CASE(one_controller_may_be_joined_elsewhere,
                     *boost::unit_test::precondition(host_has("cpu", "pids"))) {
  TestCgroup cgroup("exec"), below("exec/sub");
  cgroup.create();
  below.create();
  const std::vector<std::string> paths = {"cpu:sub"};
  Member member(must(cgroup->open_for_join(paths)), Member::sleep_forever);
  BOOST_TEST(below.read("cpu", "cgroup.procs") == std::to_string(member.pid()));
  BOOST_TEST(below.read("pids", "cgroup.procs").empty());
  BOOST_TEST(cgroup.read("pids", "cgroup.procs") == std::to_string(member.pid()));
}

BOOST_AUTO_TEST_CASE(disabled_does_nothing) {
  const auto cgroup = disabled_cgroup();
  must(cgroup->create({}));
  must(cgroup->freeze(FreezerState::kFrozen));
  Resources resources;
  resources.pids_limit = 1;
  must(cgroup->apply(resources));
  BOOST_TEST(must(cgroup->open_for_join()).tasks.empty());
  must(cgroup->destroy());
  BOOST_TEST(cgroup->record().directories.empty());
}

BOOST_AUTO_TEST_SUITE_END()
