#include "linux/resctrl/group.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/child_test.hpp"
#include "tests/linux/resctrl/fixture.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr int kPid = 4711;

IntelRdt with_schema(std::optional<std::string> clos_id = std::nullopt) {
  IntelRdt rdt;
  rdt.clos_id = std::move(clos_id);
  rdt.l3_cache_schema = "L3:0=7f0;1=1f";
  rdt.mem_bw_schema = "MB:0=20;1=70";
  return rdt;
}

Result<ResctrlGroups> apply(const ResctrlTree& tree, const IntelRdt& rdt) {
  return apply_resctrl(HostPath(tree.root()), rdt, "web", kPid);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resctrl)

BOOST_AUTO_TEST_CASE(a_mounted_resctrl_is_found_or_the_error_names_the_field, *needs_root())  // I-1
{
  const auto found = find_resctrl();
  if (found)
    BOOST_TEST(!found->empty());
  else
    BOOST_TEST(found.error().message().starts_with("/linux/intelRdt: no resctrl file system is"));
}

BOOST_AUTO_TEST_CASE(schemata_are_written_l3_first_then_mb_then_the_list)  // I-4
{
  IntelRdt rdt = with_schema();
  rdt.l3_cache_schema = "L3:0=f\nL3:1=f0\n";
  rdt.schemata = {"L2:0=1", "L3:0=1"};
  const std::vector<std::string> wanted{"L3:0=f", "L3:1=f0", "MB:0=20;1=70", "L2:0=1", "L3:0=1"};
  BOOST_TEST(schema_lines(rdt) == wanted, boost::test_tools::per_element());
  BOOST_TEST(schema_lines({}).empty());
}

BOOST_AUTO_TEST_CASE(schemata_are_compared_as_numbers)  // I-5
{
  const char* file = "    L3:0=0007f0;1=00001f\n    MB:0=020;1= 70\n";
  for (const char* same :
       {"L3:0=7f0;1=1f", "L3:1=1F;0=7F0", "L3:0=7f0", "MB:0=20;1=70", "MB: 1=70", "L3:0=0x7f0;"})
    BOOST_TEST(must(schemata_agree(same, file)), same);
  for (const char* other :
       {"L3:0=7f1", "L3:2=7f0", "L2:0=7f0", "MB:0=2", "MB:0=20;1=71", "L3:0=7f00"})
    BOOST_TEST(!must(schemata_agree(other, file)), other);
  for (const char* bad : {"", "L3", "L3:", ":0=1", "L3:0", "L3:0=", "L3:=1"})
    BOOST_TEST(!schemata_agree(bad, file).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(a_clos_id_that_is_no_name_is_refused)  // I-3
{
  for (const char* name : {"", ".", "..", "a/b", "/a", "../a", "info", "mon_groups", "mon_data"}) {
    const auto checked = check_resctrl({.clos_id = name});
    BOOST_REQUIRE_MESSAGE(!checked, name);
    BOOST_TEST(checked.error().message().starts_with("/linux/intelRdt/closID: "));
  }
  for (const char* name : {"/", "gold", "..."}) must(check_resctrl({.clos_id = name}));
}

BOOST_AUTO_TEST_CASE(a_schema_of_the_wrong_form_is_refused)  // I-7
{
  BOOST_TEST(must_fail(check_resctrl({.mem_bw_schema = "L3:0=1"})) ==
             "/linux/intelRdt/memBwSchema: \"L3:0=1\" must start with \"MB:\"");
  BOOST_TEST(must_fail(check_resctrl({.mem_bw_schema = "MB:0=1\nMB:1=1"})).contains("one line"));
  BOOST_TEST(must_fail(check_resctrl({.schemata = std::vector<std::string>{"L3:0=1", "a\nb"}})) ==
             "/linux/intelRdt/schemata/1: must be one line");
}

BOOST_AUTO_TEST_CASE(a_clos_of_the_container_alone_is_made_and_removed,
                     *needs_root())  // I-2, I-4, I-9
{
  const ResctrlTree tree;
  BOOST_TEST(run_under_resctrl([&] {
               const ResctrlGroups groups = must(apply(tree, with_schema()));
               BOOST_TEST(groups.clos_path == tree.root() + "/web");
               BOOST_TEST(groups.monitor_path == "");
               BOOST_TEST(tree.read("web/schemata") == "L3:0=7f0;1=1f\nMB:0=20;1=70\n");
               BOOST_TEST(tree.read("web/tasks") == "4711\n");
               must(remove_resctrl(groups));
               BOOST_TEST(!tree.has("web"));
               must(remove_resctrl(groups));  // gone already
             }) == 0);
}

BOOST_AUTO_TEST_CASE(without_a_schema_nothing_is_written_to_schemata, *needs_root())  // I-4
{
  const ResctrlTree tree;
  BOOST_TEST(run_under_resctrl([&] {
               must(apply(tree, {}));
               BOOST_TEST(tree.read("web/schemata") == "");
               BOOST_TEST(tree.read("web/tasks") == "4711\n");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_named_clos_is_made_when_absent_and_never_removed, *needs_root())  // I-2, I-5
{
  const ResctrlTree tree;
  BOOST_TEST(run_under_resctrl([&] {
               const ResctrlGroups groups = must(apply(tree, with_schema("gold")));
               BOOST_TEST(groups.clos_path == "");
               BOOST_TEST(tree.read("gold/schemata") == "L3:0=7f0;1=1f\nMB:0=20;1=70\n");
               must(remove_resctrl(groups));
               BOOST_TEST(tree.has("gold"));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_named_clos_that_agrees_is_joined)  // I-5
{
  const ResctrlTree tree;
  tree.make_group("gold");
  const std::string schemata = "    L3:0=0007f0;1=00001f\n    MB:0=20;1=70\n";
  tree.write("gold/schemata", schemata);
  const ResctrlGroups groups = must(apply(tree, with_schema("gold")));
  BOOST_TEST(groups.clos_path == "");
  BOOST_TEST(tree.read("gold/schemata") == schemata);
  BOOST_TEST(tree.read("gold/tasks") == "4711\n");
}

BOOST_AUTO_TEST_CASE(a_named_clos_that_differs_is_an_error_that_names_the_line)  // I-5
{
  const ResctrlTree tree;
  tree.make_group("gold");
  tree.write("gold/schemata", "L3:0=7f0;1=1f\nMB:0=20;1=80\n");
  const std::string message = must_fail(apply(tree, with_schema("gold")));
  BOOST_TEST(message.starts_with("/linux/intelRdt: CLOS " + tree.root() + "/gold: it exists with"));
  BOOST_TEST(message.contains("\"MB:0=20;1=70\""));
  BOOST_TEST(tree.read("gold/tasks") == "");
  BOOST_TEST(tree.has("gold"));
}

BOOST_AUTO_TEST_CASE(a_named_clos_without_a_schema_must_exist)  // I-6
{
  const ResctrlTree tree;
  BOOST_TEST(must_fail(apply(tree, {.clos_id = "gold"})).contains("this CLOS does not exist"));
  BOOST_TEST(!tree.has("gold"));
  tree.make_group("gold");
  must(apply(tree, {.clos_id = "gold"}));
  BOOST_TEST(tree.read("gold/tasks") == "4711\n");
  BOOST_TEST(tree.read("gold/schemata") == "");
}

BOOST_AUTO_TEST_CASE(a_slash_is_the_default_clos)  // I-2
{
  const ResctrlTree tree;
  const ResctrlGroups groups = must(apply(tree, {.clos_id = "/"}));
  BOOST_TEST(tree.read("tasks") == "4711\n");
  BOOST_TEST(groups.clos_path == "");
  BOOST_TEST(!tree.has("web"));
}

BOOST_AUTO_TEST_CASE(a_monitoring_group_is_made_joined_and_removed, *needs_root())  // I-8
{
  const ResctrlTree tree;
  tree.make_group("gold");
  BOOST_TEST(run_under_resctrl([&] {
               const ResctrlGroups groups =
                   must(apply(tree, {.clos_id = "gold", .enable_monitoring = true}));
               BOOST_TEST(groups.monitor_path == tree.root() + "/gold/mon_groups/web");
               BOOST_TEST(tree.read("gold/mon_groups/web/tasks") == "4711\n");
               must(remove_resctrl(groups));
               BOOST_TEST(!tree.has("gold/mon_groups/web"));
               BOOST_TEST(tree.has("gold"));

               const ResctrlGroups root =
                   must(apply(tree, {.clos_id = "/", .enable_monitoring = true}));
               BOOST_TEST(root.monitor_path == tree.root() + "/mon_groups/web");
               must(remove_resctrl(root));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(no_more_monitoring_groups_is_an_error_that_leaves_nothing,
                     *needs_root())  // I-8
{
  const ResctrlTree tree;
  const auto full = [](const std::filesystem::path& path) {
    return path.parent_path().filename() == "mon_groups" ? ENOSPC : 0;
  };
  BOOST_TEST(run_under_resctrl(
                 [&] {
                   IntelRdt rdt = with_schema();
                   rdt.enable_monitoring = true;
                   const std::string message = must_fail(apply(tree, rdt));
                   BOOST_TEST(message.contains("enableMonitoring: make the resctrl group web"));
                   BOOST_TEST(message.contains("the processor has no more of them"));
                   BOOST_TEST(!tree.has("web"));
                 },
                 full) == 0);
}

BOOST_AUTO_TEST_CASE(a_monitoring_group_of_somebody_else_is_left_alone, *needs_root())  // I-8
{
  const ResctrlTree tree;
  tree.make_group("gold");
  tree.make_group("gold/mon_groups/web");
  BOOST_TEST(run_under_resctrl([&] {
               const std::string message =
                   must_fail(apply(tree, {.clos_id = "gold", .enable_monitoring = true}));
               BOOST_TEST(message.contains("mon_groups/web: file exists"));
             }) == 0);
  BOOST_TEST(tree.has("gold/mon_groups/web"));
}

BOOST_AUTO_TEST_CASE(the_kernels_own_reason_is_told_and_an_older_group_stays) {
  const ResctrlTree tree;
  // Something that is no directory stands where the group would be.
  tree.write("web", "");
  tree.write("info/last_cmd_status", "out of CLOSIDs\n");
  BOOST_TEST(must_fail(apply(tree, with_schema())).contains("/web: open web: not a directory"));
  BOOST_TEST(tree.has("web"));
}

BOOST_AUTO_TEST_CASE(a_full_resctrl_is_explained, *needs_root()) {
  const ResctrlTree other;
  const auto full = [](const std::filesystem::path&) { return ENOSPC; };
  BOOST_TEST(run_under_resctrl(
                 [&] {
                   other.write("info/last_cmd_status", "out of CLOSIDs\n");
                   const std::string message = must_fail(apply(other, with_schema()));
                   BOOST_TEST(message.contains("no more of them"), message);
                   BOOST_TEST(message.contains("(out of CLOSIDs): no space left on device"));
                 },
                 full) == 0);
}

BOOST_AUTO_TEST_CASE(a_link_in_the_tree_is_not_followed) {
  const ResctrlTree tree;
  std::filesystem::create_directory_symlink("/tmp", tree.root() + "/gold");
  BOOST_TEST(!apply(tree, {.clos_id = "gold"}).has_value());
}

BOOST_AUTO_TEST_CASE(a_container_with_a_name_of_resctrls_own_needs_a_clos_id) {
  const ResctrlTree tree;
  const auto applied = apply_resctrl(HostPath(tree.root()), with_schema(), "info", kPid);
  BOOST_TEST(must_fail(applied).contains("give a closID"));
}

BOOST_AUTO_TEST_SUITE_END()
