#include "criu/compare/cgroups.hpp"

#include <fcntl.h>
#include <sched.h>

#include <functional>

#include "linux/base/file_io.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups::test;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// A process in a cgroup that has done `work`.
class Worker {
 public:
  Worker(const TestCgroup& cgroup, const std::function<void()>& work)
      : member_(must(cgroup->open_for_join()), [&] {
          work();
          if (::write(done_.writer.get(), "x", 1) != 1) return 93;
          return Member::sleep_forever();
        }) {
    done_.writer.reset();
    char byte = 0;
    BOOST_TEST_REQUIRE(::read(done_.reader.get(), &byte, 1) == 1);
  }
  int pid() const { return member_.pid(); }

 private:
  linux::Pipe done_ = must(linux::make_pipe());
  Member member_;
};

void do_nothing() {}
void unshare_cgroup() {
  if (::unshare(CLONE_NEWCGROUP) != 0) ::_exit(94);
}

linux::Procfs open_proc() { return must(linux::Procfs::open(linux::Procfs::Subset::kProcesses)); }

/// `record` with the path of another cgroup.
cgroups::Record with_path(cgroups::Record record, std::string path) {
  record.path = std::move(path);
  return record;
}

std::string problem(const Result<void>& compared) {
  return compared ? "" : compared.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_cgroups_of_processes, *boost::unit_test::precondition(host_has()))

BOOST_AUTO_TEST_CASE(a_process_is_in_the_containers_cgroup_or_below) {
  const linux::Procfs procfs = open_proc();
  TestCgroup cgroup("a");
  const Member member(cgroup.create());
  const cgroups::Record& record = cgroup->record();
  const std::string parent = cgroup.path().substr(0, cgroup.path().rfind('/'));
  BOOST_TEST(problem(compare_cgroups(record, procfs, member.pid())) == "");
  BOOST_TEST(problem(compare_cgroups(with_path(record, parent), procfs, member.pid())) == "");
  for (const std::string& other : {cgroup.path() + "/below", cgroup.path() + "b",
                                   cgroup.path().substr(0, cgroup.path().size() - 1) + "b",
                                   parent.substr(0, parent.size() - 1)})
    BOOST_TEST(problem(compare_cgroups(with_path(record, other), procfs, member.pid()))
                   .contains(", outside of the container's cgroup " + other),
               other);
  BOOST_TEST(problem(compare_cgroups(record, procfs, ::getpid()))
                 .contains("outside of the container's cgroup " + cgroup.path()));
}

BOOST_AUTO_TEST_CASE(each_hierarchy_of_the_record_is_compared_and_no_other) {
  const linux::Procfs procfs = open_proc();
  TestCgroup cgroup("a");
  cgroup.create();
  const cgroups::Record& whole = cgroup->record();
  for (const auto& directory : whole.directories) {
    cgroups::Record one = whole;
    one.directories = {directory};
    one.created_parents = {};
    const auto part = must(cgroups::open_cgroup(one));
    const Member member(must(part->open_for_join()), Member::sleep_forever);
    BOOST_TEST(problem(compare_cgroups(one, procfs, member.pid())) == "", directory.first);
    if (whole.directories.size() == 1) continue;
    cgroups::Record others = whole;
    std::erase(others.directories, directory);
    BOOST_TEST(!compare_cgroups(others, procfs, member.pid()), directory.first);
    BOOST_TEST(!compare_cgroups(whole, procfs, member.pid()), directory.first);
  }
}

BOOST_AUTO_TEST_CASE(the_root_of_the_cgroup_namespace_is_the_containers_cgroup) {
  const linux::Procfs procfs = open_proc();
  TestCgroup cgroup("a");
  const Worker init(cgroup.create(), unshare_cgroup);
  BOOST_TEST(problem(compare_cgroup_root(cgroup->record(), procfs, init.pid())) == "");
}

BOOST_AUTO_TEST_CASE(init_may_be_in_a_cgroup_below_the_root) {
  const linux::Procfs procfs = open_proc();
  TestCgroup cgroup("a");
  cgroup.create();
  TestCgroup below("a/below");
  below.create();
  const auto handles = must(below->open_for_join());
  const Worker init(cgroup, [&] {
    unshare_cgroup();
    join(handles);
  });
  BOOST_TEST(problem(compare_cgroup_root(cgroup->record(), procfs, init.pid())) == "");
  // The root is the parent of the record's cgroup.
  BOOST_TEST(problem(compare_cgroup_root(below->record(), procfs, init.pid()))
                 .contains("the root of the cgroup namespace is not the container's cgroup " +
                           below.path()));
}

BOOST_AUTO_TEST_CASE(a_root_that_is_another_cgroup_is_found_out) {
  const linux::Procfs procfs = open_proc();
  TestCgroup cgroup("a");
  cgroup.create();
  const std::string refusal = "the root of the cgroup namespace is not the container's cgroup ";
  {  // the host's root
    const Worker init(cgroup, do_nothing);
    const std::string text = problem(compare_cgroup_root(cgroup->record(), procfs, init.pid()));
    BOOST_TEST(text.contains(refusal + cgroup.path()), text);
    BOOST_TEST(text.contains("init sees itself in " + cgroup.path()), text);
  }
  {  // a cgroup beside the container's
    TestCgroup other("b");
    other.create();
    const auto handles = must(cgroup->open_for_join());
    const Worker init(other, [&] {
      unshare_cgroup();
      join(handles);
    });
    BOOST_TEST(problem(compare_cgroup_root(cgroup->record(), procfs, init.pid()))
                   .contains("init sees itself in /../a"));
  }
  {  // a cgroup below the container's
    TestCgroup below("a/below");
    below.create();
    const Worker init(below, unshare_cgroup);
    BOOST_TEST(problem(compare_cgroup_root(cgroup->record(), procfs, init.pid()))
                   .contains("init sees itself in /"));
  }
}

BOOST_AUTO_TEST_CASE(a_container_without_a_cgroup_is_not_compared) {
  const linux::Procfs procfs = open_proc();
  constexpr int kNoProcess = 0;  // nobody reads its cgroups
  BOOST_TEST(problem(compare_cgroups({}, procfs, kNoProcess)) == "");
  BOOST_TEST(problem(compare_cgroup_root({}, procfs, kNoProcess)) == "");
  TestCgroup cgroup("a");
  BOOST_TEST(!compare_cgroups(cgroup->record(), procfs, kNoProcess));
  BOOST_TEST(!compare_cgroup_root(cgroup->record(), procfs, kNoProcess));
}

BOOST_AUTO_TEST_SUITE_END()
