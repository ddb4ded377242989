#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/resource.h>

#include <ranges>

#include "bundle/config/nearest_capability.hpp"
#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(process)

namespace {

Process process_of(std::string_view process) {
  return *config_of(fmt::format(R"({{"process": {}}})", process)).process;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_document_without_a_process_is_accepted) {  // P-1
  BOOST_TEST(!config_of(R"({"process": null})").process.has_value());
}

BOOST_AUTO_TEST_CASE(mistakes_in_the_process) {  // P-2 … P-21
  constexpr Mistake kMistakes[] = {
      {R"({"process": {"terminal": true, "consoleSize": {"height": 24}}})",
       "/process/consoleSize/width", "is missing"},
      {R"({"process": {"cwd": null}})", "/process/cwd", "is missing"},
      {R"({"process": {"cwd": "tmp"}})", "/process/cwd", "must be an absolute path, not \"tmp\""},
      {R"({"process": {"cwd": ""}})", "/process/cwd", "must not be empty"},
      {R"({"process": {"env": ["PATH"]}})", "/process/env/0", "NAME=value, not \"PATH\""},
      {R"({"process": {"env": ["A=1", "=x"]}})", "/process/env/1", "NAME=value"},
      {R"({"process": {"env": [""]}})", "/process/env/0", "NAME=value"},
      {R"({"process": {"args": []}})", "/process/args", "at least the program"},
      {R"({"process": {"args": null}})", "/process/args", "is missing"},
      {R"({"process": {"rlimits": [{"type": "RLIMIT_NOFIL", "soft": 1, "hard": 1}]}})",
       "/process/rlimits/0/type", "(did you mean RLIMIT_NOFILE?)"},
      {R"({"process": {"rlimits": [{"type": "RLIMIT_CPU", "soft": 2, "hard": 1}]}})",
       "/process/rlimits/0/soft", "2 is above the hard limit 1"},
      {R"({"process": {"rlimits": [{"type": "RLIMIT_CPU", "hard": 1}]}})",
       "/process/rlimits/0/soft", "is missing"},
      {R"({"process": {"rlimits": [{"type": "RLIMIT_CPU", "soft": 1, "hard": 1},
          {"type": "RLIMIT_CORE", "soft": 1, "hard": 1},
          {"type": "RLIMIT_CPU", "soft": 1, "hard": 1}]}})",
       "/process/rlimits/2/type", "RLIMIT_CPU is listed twice"},
      {R"({"process": {"oomScoreAdj": 1001}})", "/process/oomScoreAdj", "from -1000 to 1000"},
      {R"({"process": {"oomScoreAdj": -1001}})", "/process/oomScoreAdj", "not -1001"},
      {R"({"process": {"scheduler": {}}})", "/process/scheduler/policy", "is missing"},
      {R"({"process": {"scheduler": {"policy": "SCHED_FIF"}}})", "/process/scheduler/policy",
       "unknown policy \"SCHED_FIF\" (did you mean SCHED_FIFO?)"},
      {R"({"process": {"scheduler": {"policy": "SCHED_OTHER", "nice": 20}}})",
       "/process/scheduler/nice", "from -20 to 19"},
      {R"({"process": {"scheduler": {"policy": "SCHED_BATCH", "priority": 1}}})",
       "/process/scheduler/priority", "SCHED_FIFO and SCHED_RR only"},
      {R"({"process": {"scheduler": {"policy": "SCHED_RR"}}})", "/process/scheduler/priority",
       "from 1 to 99"},
      {R"({"process": {"scheduler": {"policy": "SCHED_OTHER", "runtime": 1}}})",
       "/process/scheduler/runtime", "SCHED_DEADLINE only"},
      {R"({"process": {"scheduler": {"policy": "SCHED_OTHER", "flags": ["SCHED_FLAG_X"]}}})",
       "/process/scheduler/flags/0", "unknown flag"},
      {R"({"process": {"ioPriority": {"class": "IOPRIO_CLASS_NONE", "priority": 1}}})",
       "/process/ioPriority/class", "unknown class"},
      {R"({"process": {"ioPriority": {"class": "IOPRIO_CLASS_RT", "priority": 8}}})",
       "/process/ioPriority/priority", "from 0 to 7"},
      {R"({"process": {"ioPriority": {"class": "IOPRIO_CLASS_RT"}}})",
       "/process/ioPriority/priority", "is missing"},
      {R"({"process": {"execCPUAffinity": {"initial": "0-"}}})", "/process/execCPUAffinity/initial",
       "list \"0-\""},
      {R"({"process": {"user": {"uid": null}}})", "/process/user/uid", "is missing"},
      {R"({"process": {"user": {"umask": 512}}})", "/process/user/umask", "from 0 to 511"},
      {R"({"process": {"user": {"additionalGids": [1, 4294967295]}}})",
       "/process/user/additionalGids/1", "from 0 to 4294967294"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(the_console_size_counts_with_a_terminal_only) {  // P-3
  constexpr std::string_view kSize = R"("consoleSize": {"height": 24, "width": 65535}})";
  const auto with = process_of(fmt::format(R"({{"terminal": true, {})", kSize));
  BOOST_TEST_REQUIRE(with.console_size.has_value());
  BOOST_TEST(with.console_size->height == 24);
  BOOST_TEST(with.console_size->width == 65535);
  BOOST_TEST(
      !process_of(fmt::format(R"({{"terminal": false, {})", kSize)).console_size.has_value());
}

BOOST_AUTO_TEST_CASE(env_and_args_are_taken_as_they_are) {  // P-5, P-6
  const auto process =
      process_of(R"({"env": ["A=1", "A=2", "B=", "x.y=z=="], "args": ["a", "", "ü"]})");
  const std::vector<std::string> env{"A=1", "A=2", "B=", "x.y=z=="};
  const std::vector<std::string> args{"a", "", "ü"};
  BOOST_TEST(process.env == env, boost::test_tools::per_element());
  BOOST_TEST(process.args == args, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(all_sixteen_limits_are_known) {  // P-8
  const auto names = linux::rlimit_names();
  BOOST_TEST(names.size() == 16U);
  std::string list;
  for (const std::string_view name : names)
    list +=
        fmt::format(R"({}{{"type": "{}", "soft": 1, "hard": 2}})", list.empty() ? "" : ",", name);
  const auto process = process_of(fmt::format(R"({{"rlimits": [{}]}})", list));
  BOOST_TEST(process.rlimits.size() == 16U);
}

BOOST_AUTO_TEST_CASE(unknown_capabilities_are_warned_about_and_the_rest_is_kept) {  // P-10
  const Parsed parsed = parse_patched(R"({"process": {"capabilities": {
    "bounding": ["CAP_KILL", "CAP_FUTURE"], "effective": [], "permitted": ["CAP_KILL"]}}})");
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(
      parsed.warnings[0].starts_with("/process/capabilities/bounding/1: unknown capability"));
  const auto& sets = *parsed.config->process->capabilities;
  BOOST_TEST(sets.bounding.has(*linux::capability_number("CAP_KILL")));
  BOOST_TEST((sets.bounding == sets.permitted));
  BOOST_TEST(sets.effective.empty());
  BOOST_TEST(sets.ambient.empty());
  BOOST_TEST(!config_of("{}").process->capabilities.has_value());  // P-11
}

BOOST_AUTO_TEST_CASE(an_unknown_capability_is_compared_by_what_tells_names_apart) {  // P-10
  for (const unsigned number : std::views::iota(0U, unsigned{CAP_LAST_CAP} + 1)) {
    const std::string name = linux::capability_name(number);
    std::string bare;
    for (const char c : name.substr(4))
      if (c != '_') bare += c;
    for (const std::string& written : {bare, "CAP_" + bare, "cap" + bare, name + "_"})
      BOOST_TEST(nearest_capability(written) == name, written);
  }
  for (const char* far : {"", "_", "CAP_", "ALL", "CAP_ALL", "CAP_FUTURE", "CAP_MUCH_TOO_FAR"})
    BOOST_TEST(nearest_capability(far).empty(), far);
  BOOST_TEST(nearest_capability(std::string(100'000, 'A')).empty());
}

BOOST_AUTO_TEST_CASE(every_simple_field_arrives) {  // P-9, P-13, P-14, P-16, P-19, P-20, P-21
  const auto process = process_of(R"({"apparmorProfile": "web", "selinuxLabel": "u:r:t:s0",
    "noNewPrivileges": true, "oomScoreAdj": -500, "cwd": "/srv",
    "user": {"uid": 4294967294, "gid": 7, "umask": 18, "additionalGids": [5, 6], "username": "w"}})");
  BOOST_TEST(process.apparmor_profile == "web");
  BOOST_TEST(process.selinux_label == "u:r:t:s0");
  BOOST_TEST(process.no_new_privileges);
  BOOST_TEST(*process.oom_score_adj == -500);
  BOOST_TEST(process.cwd == "/srv");
  BOOST_TEST(process.user.uid.value() == 4294967294U);
  BOOST_TEST(process.user.gid.value() == 7U);
  BOOST_TEST(*process.user.umask == 022U);
  BOOST_TEST(process.user.additional_gids.size() == 2U);
  BOOST_TEST(!config_of("{}").process->user.umask.has_value());
  BOOST_TEST(!config_of("{}").process->oom_score_adj.has_value());
}

BOOST_AUTO_TEST_CASE(an_absent_user_is_root) {
  auto document = whole_document();
  document["process"].erase("user");
  const Parsed parsed = parse_config(document.dump(), kBundle);
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  BOOST_TEST(parsed.config->process->user.uid.value() == 0U);
}

BOOST_AUTO_TEST_CASE(the_idle_class_needs_no_priority) {  // P-17
  BOOST_TEST(
      process_of(R"({"ioPriority": {"class": "IOPRIO_CLASS_IDLE"}})").io_priority->io_class == 3U);
}

BOOST_AUTO_TEST_CASE(scheduler_and_priorities_arrive) {  // P-15, P-17, P-18
  const auto process = process_of(R"({
    "scheduler": {"policy": "SCHED_DEADLINE", "flags": ["SCHED_FLAG_RESET_ON_FORK",
      "SCHED_FLAG_DL_OVERRUN"], "runtime": 1, "deadline": 2, "period": 3},
    "ioPriority": {"class": "IOPRIO_CLASS_IDLE", "priority": 0},
    "execCPUAffinity": {"initial": "0-1, 3", "final": ""}})");
  BOOST_TEST(process.scheduler->policy == static_cast<unsigned>(SCHED_DEADLINE));
  BOOST_TEST(process.scheduler->flags ==
             static_cast<unsigned>(SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN));
  BOOST_TEST(process.scheduler->period == 3U);
  BOOST_TEST(process.io_priority->io_class == 3U);
  BOOST_TEST_REQUIRE(process.initial_cpu_affinity.has_value());
  BOOST_TEST(process.initial_cpu_affinity->contains(3));
  BOOST_TEST(!process.initial_cpu_affinity->contains(2));
  BOOST_TEST(!process.final_cpu_affinity.has_value());
}

BOOST_AUTO_TEST_CASE(a_user_that_is_not_mapped_is_refused) {  // P-19, L-24
  constexpr Mistake kMistakes[] = {
      {R"({"process": {"user": {"uid": 10, "gid": 0}}, "linux": {
          "namespaces": [{"type": "user"}, {"type": "uts"}, {"type": "mount"}],
          "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 10}],
          "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 10}]}})",
       "/process/user/uid", "user id 10 is not in /linux/uidMappings"},
      {R"({"process": {"user": {"uid": 0, "gid": 0, "additionalGids": [1, 2]}}, "linux": {
          "namespaces": [{"type": "user"}, {"type": "uts"}, {"type": "mount"}],
          "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}],
          "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 2}]}})",
       "/process/user/additionalGids/1", "group id 2 is not in /linux/gidMappings"},
      {R"({"process": {"user": {"uid": 0, "gid": 0}}, "linux": {
          "devices": [{"type": "c", "path": "/dev/x", "major": 1, "minor": 2, "gid": 9}],
          "namespaces": [{"type": "user"}, {"type": "uts"}, {"type": "mount"}],
          "uidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}],
          "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 2}]}})",
       "/linux/devices/0/gid", "group id 9 is not in /linux/gidMappings"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(the_process_of_exec_is_read_alone) {
  std::vector<std::string> warnings;
  const auto process = parse_process(
      R"({"terminal": true, "user": {"uid": 5, "gid": 6}, "args": ["id"], "env": ["A=b"], "cwd": "/",
          "capabilities": {"bounding": ["CAP_NONE_SUCH"]}})",
      warnings);
  BOOST_TEST_REQUIRE(process.has_value());
  BOOST_TEST(process->user.gid.value() == 6U);
  BOOST_TEST(warnings.size() == 1U);
  const auto wrong = parse_process(R"({"args": ["id"], "cwd": "x", "env": ["a"]})", warnings);
  BOOST_TEST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().message() ==
             "process: /cwd: must be an absolute path, not \"x\"; "
             "/env/0: must have the form NAME=value, not \"a\"");
  BOOST_TEST(!parse_process("null", warnings).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
