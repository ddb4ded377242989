// Documents as engines write them, from tests/data.

#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(clients)

namespace {

Config client_config(const char* name) {
  Parsed parsed = parse_config(read_text(std::string(OCIRUN_TEST_DATA "/") + name), kBundle);
  for (const std::string& problem : parsed.problems) BOOST_ERROR(problem);
  for (const std::string& refusal : parsed.refusals) BOOST_ERROR(refusal);
  for (const std::string& warning : parsed.warnings) BOOST_ERROR(warning);  // engines show them
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  return *std::move(parsed.config);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_document_of_docker) {
  const Config config = client_config("docker.json");
  BOOST_TEST(!config.process->console_size.has_value());
  BOOST_TEST(config.process->apparmor_profile.empty());
  BOOST_TEST(config.namespaces.creates(linux::NamespaceKind::kIpc));  // "path": ""
  BOOST_TEST(!config.resources->block_io->weight.has_value());
  BOOST_TEST(!config.resources->cpu->shares.has_value());
  BOOST_TEST(!*config.resources->memory->disable_oom_killer);
  const cgroups::DeviceRule& last = config.resources->devices.back();
  BOOST_TEST(last.allow);
  BOOST_TEST(*last.major == 42);
  BOOST_TEST(!last.minor.has_value());
  BOOST_TEST((last.read && last.write && last.mknod));
  BOOST_TEST(*config.devices[0].mode == 0666U);  // 0020666: the client sends st_mode
  BOOST_TEST(config.hooks.of(hooks::Kind::kPrestart)[0].args.size() == 4U);
  BOOST_TEST(config.seccomp->rules.size() == 5U);
  BOOST_TEST(config.seccomp->rules[3].arguments[0].value == 2114060288U);
  BOOST_TEST(config.mounts.size() == 11U);
}

BOOST_AUTO_TEST_CASE(a_document_of_rootless_podman) {
  const Config config = client_config("podman_rootless.json");
  BOOST_TEST(*config.process->user.umask == 022U);
  BOOST_TEST(
      config.process->capabilities->ambient.has(*linux::capability_number("CAP_NET_BIND_SERVICE")));
  BOOST_TEST(config.namespaces.joins(linux::NamespaceKind::kNetwork));
  BOOST_TEST(config.id_map.uids.size() == 2U);
  BOOST_TEST(config.mounts[8].copy_up);
  BOOST_TEST(config.resources->unified[0].first == "memory.high");
  BOOST_TEST(config.resources->hugepage_limits[0].limit == 9223372036854772000U);
  BOOST_TEST(*config.seccomp->flags == 0U);
}

BOOST_AUTO_TEST_CASE(a_document_of_a_kubernetes_pod) {  // L-10: path and mappings
  const Config config = client_config("cri_pod.json");
  BOOST_TEST(config.namespaces.joins(linux::NamespaceKind::kUser));
  BOOST_TEST(config.id_map.uids.size() == 1U);
  BOOST_TEST((config.mounts.back().id_map_kind == linux::IdMapKind::kRecursive));
  BOOST_TEST(!config.resources->memory->limit.has_value());
  BOOST_TEST(!config.resources->cpu->cpus.has_value());
  BOOST_TEST(config.seccomp->architectures.empty());
  BOOST_TEST(config.process->selinux_label.empty());
  BOOST_TEST(config.root_path.string() == "/bundles/web1/rootfs");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
