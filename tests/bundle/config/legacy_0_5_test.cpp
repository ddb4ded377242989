#include <link.h>

#include <cstdio>
#include <memory>

#include "bundle/config/oci_version.hpp"
#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(legacy_0_5)

namespace {

std::string legacy(std::string_view patch) {
  auto document = nlohmann::ordered_json::parse(patched(R"({"ociVersion": "0.5.0-dev"})"));
  document.merge_patch(nlohmann::ordered_json::parse(patch));
  return document.dump();
}

Config legacy_config(std::string_view patch) {
  Parsed parsed = parse_config(legacy(patch), kBundle);
  for (const std::string& problem : parsed.problems) BOOST_ERROR(problem);
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  BOOST_TEST((parsed.config->edition == Edition::kLegacy05));
  return *std::move(parsed.config);
}

void check_legacy_mistakes(std::span<const Mistake> mistakes) {
  for (const Mistake& mistake : mistakes) BOOST_TEST_CONTEXT("patch " << mistake.patch)
  check_one_problem(parse_config(legacy(mistake.patch), kBundle).problems, mistake);
}

int machine_of_this_program() {
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen("/proc/self/exe", "re"),
                                                          &std::fclose);
  BOOST_TEST_REQUIRE((file != nullptr));
  ElfW(Ehdr) header;
  BOOST_TEST_REQUIRE(std::fread(&header, sizeof header, 1, file.get()) == 1U);
  return header.e_machine;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_edition_follows_the_version) {  // SD-1
  for (const char* version : {"0.5.0-dev", "0.5.0", "0.6.0", "0.6.0-dev"})
    BOOST_TEST((config_of(fmt::format(R"({{"ociVersion": "{}"}})", version)).edition ==
                Edition::kLegacy05));
}

BOOST_AUTO_TEST_CASE(the_platform_has_to_be_ours) {  // SD-2
  constexpr Mistake kMistakes[] = {
      {R"({"platform": {"os": "solaris"}})", "/platform/os", "\"solaris\" is not supported"},
      {R"({"platform": {"os": "linux", "arch": "z80"}})", "/platform/arch",
       "\"z80\" is not supported on this host"}};
  check_legacy_mistakes(kMistakes);
  BOOST_TEST(config_of(R"({"platform": {"os": "solaris"}})").root_readonly);  // unknown in 1.x
}

BOOST_AUTO_TEST_CASE(the_platform_is_the_architecture_of_the_build) {  // SD-2
  struct Platform {
    int machine;  // of ELF
    std::vector<std::string_view> names;
  };
  const std::vector<Platform> platforms{
      {EM_X86_64, {"amd64", "386"}},  {EM_386, {"386"}},
      {EM_AARCH64, {"arm64", "arm"}}, {EM_ARM, {"arm"}},
      {EM_PPC64, {"ppc64le"}},        {EM_RISCV, {"riscv64"}},
      {EM_S390, {"s390x", "s390"}},
  };
  const auto own = std::ranges::find(platforms, machine_of_this_program(), &Platform::machine);
  BOOST_TEST_REQUIRE((own != platforms.end()));
  BOOST_TEST(architecture_of_build() == own->names.front());
  for (const Platform& platform : platforms)
    for (const std::string_view name : platform.names) BOOST_TEST_CONTEXT("name " << name) {
        const auto patch = fmt::format(R"({{"platform": {{"os": "linux", "arch": "{}"}}}})", name);
        if (std::ranges::find(own->names, name) != own->names.end()) {
          legacy_config(patch);
          continue;
        }
        const auto words = fmt::format("\"{}\" is not supported on this host", name);
        check_legacy_mistakes(std::vector<Mistake>{{patch, "/platform/arch", words}});
      }
}

BOOST_AUTO_TEST_CASE(the_list_of_capabilities_makes_three_sets) {  // SD-5, SD-6
  Parsed parsed = parse_config(
      legacy(R"({"process": {"capabilities": ["CAP_KILL", "CAP_NO_SUCH"]}})"), kBundle);
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  const auto& sets = *parsed.config->process->capabilities;
  linux::CapabilitySet kill;
  kill.add(*linux::capability_number("CAP_KILL"));
  BOOST_TEST((sets.bounding == kill));
  BOOST_TEST((sets.effective == kill));
  BOOST_TEST((sets.permitted == kill));
  BOOST_TEST(sets.inheritable.empty());
  BOOST_TEST(sets.ambient.empty());
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings[0].starts_with("/process/capabilities/1: unknown capability"));
  // A 0.5 document may use the 1.x form.
  const Config later = legacy_config(R"({"process": {"capabilities": {"ambient": ["CAP_KILL"]}}})");
  BOOST_TEST((later.process->capabilities->ambient == kill));
}

BOOST_AUTO_TEST_CASE(names_of_environment_variables_are_plain) {  // SD-7
  constexpr Mistake kMistakes[] = {{R"({"process": {"env": ["A=1", "a.b=2"]}})", "/process/env/1",
                                    "letters, digits and underscores"}};
  check_legacy_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(oom_members_move_to_their_later_places) {  // SD-8, SD-9
  const Config config =
      legacy_config(R"({"linux": {"resources": {"oomScoreAdj": 100, "disableOOMKiller": true}}})");
  BOOST_TEST(*config.process->oom_score_adj == 100);
  BOOST_TEST(*config.resources->memory->disable_oom_killer);
  BOOST_TEST(*legacy_config(
                  R"({"process": {"oomScoreAdj": 5}, "linux": {"resources": {"oomScoreAdj": 5}}})")
                  .process->oom_score_adj == 5);
  constexpr Mistake kMistakes[] = {
      {R"({"process": {"oomScoreAdj": 6}, "linux": {"resources": {"oomScoreAdj": 5}}})",
       "/linux/resources/oomScoreAdj", "given together with /process/oomScoreAdj"},
      {R"({"linux": {"resources": {"disableOOMKiller": true, "memory": {"disableOOMKiller": false}}}})",
       "/linux/resources/disableOOMKiller", "given together with"},
      {R"({"linux": {"resources": {"oomScoreAdj": "5"}}})", "/linux/resources/oomScoreAdj",
       "must be a whole number"},
  };
  check_legacy_mistakes(kMistakes);
  BOOST_TEST(
      !config_of(R"({"linux": {"resources": {"oomScoreAdj": 100}}})").process->oom_score_adj);
}

BOOST_AUTO_TEST_CASE(block_io_had_a_prefix) {  // SD-10
  const auto io = *legacy_config(R"({"linux": {"resources": {"blockIO": {"blkioWeight": 10,
    "blkioLeafWeight": 20, "blkioWeightDevice": [{"major": 8, "minor": 0, "weight": 500}],
    "blkioThrottleReadBpsDevice": [{"major": 8, "minor": 0, "rate": 1}],
    "blkioThrottleWriteBpsDevice": [{"major": 8, "minor": 0, "rate": 2}],
    "blkioThrottleReadIOPSDevice": [{"major": 8, "minor": 0, "rate": 3}],
    "blkioThrottleWriteIOPSDevice": [{"major": 8, "minor": 0, "rate": 4}]}}}})")
                       .resources->block_io;
  BOOST_TEST(*io.weight == 10);
  BOOST_TEST(*io.leaf_weight == 20);
  BOOST_TEST(io.weight_devices.size() == 1U);
  BOOST_TEST(io.read_bps[0].rate == 1U);
  BOOST_TEST(io.write_bps[0].rate == 2U);
  BOOST_TEST(io.read_iops[0].rate == 3U);
  BOOST_TEST(io.write_iops[0].rate == 4U);
  constexpr Mistake kMistakes[] = {
      {R"({"linux": {"resources": {"blockIO": {"blkioWeight": 10, "weight": 10}}}})",
       "/linux/resources/blockIO/blkioWeight",
       "given together with /linux/resources/blockIO/weight"},
      {R"({"linux": {"resources": {"blockIO": {"blkioWeight": 5}}}})",
       "/linux/resources/blockIO/blkioWeight", "from 10 to 1000"}};
  check_legacy_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(a_seccomp_rule_had_one_name) {  // SD-11
  const auto rules = legacy_config(R"({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"name": "getcwd", "action": "SCMP_ACT_ERRNO"}]}}})")
                         .seccomp->rules;
  BOOST_TEST_REQUIRE(rules.size() == 1U);
  BOOST_TEST_REQUIRE(rules[0].names.size() == 1U);
  BOOST_TEST(rules[0].names[0] == "getcwd");
  constexpr Mistake kMistakes[] = {{R"({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW",
          "syscalls": [{"name": "a", "names": ["b"], "action": "SCMP_ACT_ERRNO"}]}}})",
                                    "/linux/seccomp/syscalls/0/name", "given together with"},
                                   {R"({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW",
          "syscalls": [{"name": 5, "action": "SCMP_ACT_ERRNO"}]}}})",
                                    "/linux/seccomp/syscalls/0/name", "must be a string, not 5"}};
  check_legacy_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(a_hook_without_env_is_told_from_one_with_an_empty_list) {  // SD-17
  const Config config =
      legacy_config(R"({"hooks": {"prestart": [{"path": "/a"}, {"path": "/b", "env": []}]}})");
  BOOST_TEST(!config.hooks.of(hooks::Kind::kPrestart)[0].env.has_value());
  BOOST_TEST(config.hooks.of(hooks::Kind::kPrestart)[1].env->empty());
}

BOOST_AUTO_TEST_CASE(the_type_bind_made_a_bind_mount) {  // SD-20
  for (const char* options : {"", R"(, "options": ["ro"])", R"(, "options": ["rbind"])"}) {
    const Config config = legacy_config(fmt::format(
        R"({{"mounts": [{{"destination": "/a", "type": "bind", "source": "b"{}}}]}})", options));
    BOOST_TEST(config.mounts[0].bind);
    BOOST_TEST(config.mounts[0].source == "/bundles/web1/b");
  }
}

BOOST_AUTO_TEST_CASE(zero_kernel_memory_is_no_limit) {  // SD-24
  const Config config =
      legacy_config(R"({"linux": {"resources": {"memory": {"kernel": 0, "kernelTCP": 0}}}})");
  BOOST_TEST(!config.resources->memory->kernel.has_value());
  BOOST_TEST(!config.resources->memory->kernel_tcp.has_value());
}

BOOST_AUTO_TEST_CASE(a_hook_timeout_of_zero_is_none) {  // SD-17
  const Config config = legacy_config(
      R"({"hooks": {"prestart": [{"path": "/a", "timeout": 0}, {"path": "/b", "timeout": 3}]}})");
  const auto& hooks = config.hooks.of(hooks::Kind::kPrestart);
  BOOST_REQUIRE(hooks.size() == 2);
  BOOST_TEST(!hooks[0].timeout.has_value());
  BOOST_TEST((hooks[1].timeout == std::chrono::seconds(3)));
}

BOOST_AUTO_TEST_CASE(an_upgrade_is_readable_and_upgrading_again_changes_nothing) {
  const auto upgraded = upgrade_document(legacy(R"({"process": {"capabilities": ["CAP_KILL"]},
    "mounts": [{"destination": "/a", "type": "bind", "source": "/b"}]})"));
  BOOST_TEST_REQUIRE(upgraded.has_value());
  BOOST_TEST(upgraded->starts_with("{\n  \"ociVersion\": \"1.3.0\",\n  \"root\": {\n"), *upgraded);
  BOOST_TEST(upgraded->contains("\"options\": [\n        \"bind\"\n      ]"), *upgraded);
  BOOST_TEST(upgraded->ends_with("}\n"));
  BOOST_TEST(*upgrade_document(*upgraded) == *upgraded);
  BOOST_TEST((parse_config(*upgraded, kBundle).config->edition == Edition::kCurrent));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_upgraded_is_refused) {
  BOOST_TEST(upgrade_document("{}").error().message() == "/ociVersion: is missing, it is required");
  BOOST_TEST(upgrade_document(R"({"ociVersion": "0.3.0"})")
                 .error()
                 .message()
                 .contains("unsupported version"));
  BOOST_TEST(upgrade_document("[").error().message().contains("not valid JSON"));
  BOOST_TEST(upgrade_document("[]").error().message().contains("/ociVersion"));
  BOOST_TEST(
      upgrade_document(
          legacy(R"({"linux": {"resources": {"blockIO": {"blkioWeight": 10, "weight": 10}}}})"))
          .error()
          .message()
          .contains("given together with"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
