#include "bundle/documents/features.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/annotations.hpp"
#include "bundle/config/oci_version.hpp"
#include "bundle/json/writer.hpp"
#include "hooks/hook.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/core_scheduling.hpp"
#include "linux/process/landlock.hpp"
#include "linux/process/scheduling.hpp"
#include "linux/sealed/executable.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::bundle {
namespace {

template <typename Kinds>
std::vector<std::string_view> names_of(const Kinds& kinds) {
  std::vector<std::string_view> names;
  for (const auto kind : kinds) names.push_back(config_name(kind));
  return names;
}

void write_enabled(JsonWriter& out, std::string_view feature) {
  out.key(feature).begin_object().member("enabled", true).end_object();
}

void write_seccomp(JsonWriter& out) {  // F-8
  out.key("seccomp").begin_object();
  out.member("enabled", true);
  out.member("actions", linux::seccomp_action_names());
  out.member("operators", linux::seccomp_operator_names());
  out.member("archs", linux::seccomp_architecture_names());
  out.member("knownFlags", linux::seccomp_flag_names());
  out.member("supportedFlags", linux::supported_seccomp_flags());  // flags of the running kernel
  out.end_object();
}

void write_linux(JsonWriter& out) {
  out.key("linux").begin_object();
  out.member("namespaces", names_of(linux::kNamespaceKinds));  // F-6
  out.member("capabilities", linux::capability_names());       // F-6
  out.key("cgroup").begin_object();                            // F-7
  out.member("v1", true).member("v2", true).member("systemd", true);
  out.member("systemdUser", true).member("rdma", true);
  out.end_object();
  write_seccomp(out);
  write_enabled(out, "apparmor");  // F-9
  write_enabled(out, "selinux");
  out.key("intelRdt").begin_object();
  out.member("enabled", true).member("schemata", true).member("monitoring", true);
  out.end_object();
  out.key("memoryPolicy").begin_object();  // F-10
  out.member("modes", linux::memory_policy_modes());
  out.member("flags", linux::memory_policy_flags());
  out.end_object();
  out.key("mountExtensions").begin_object();  // F-11
  write_enabled(out, "idmap");
  out.end_object();
  write_enabled(out, "netDevices");  // F-12
  out.end_object();
}

}  // namespace

std::string features_text(Criu criu) {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.begin_object();
  out.member("ociVersionMin", kOldestVersion).member("ociVersionMax", kNewestVersion);  // F-1
  out.member("hooks", names_of(hooks::kKinds));                                         // F-4
  out.member("mountOptions", linux::known_mount_options());                             // F-5
  write_linux(out);
  out.key("annotations").begin_object();  // F-13: engines read these annotations
  out.member("io.github.seccomp.libseccomp.version", linux::libseccomp_version());
  out.member(kCoreScheduling,
             linux::core_scheduling() == linux::CoreScheduling::kMissing ? "false" : "true");
  out.member("org.ocirun.landlock.version", std::to_string(linux::landlock_version()));
  out.member("org.ocirun.sealed", linux::way_of_sealed_execution());
  out.member("org.opencontainers.runc.checkpoint.enabled",
             criu == Criu::kIsFound ? "true" : "false");
  out.end_object();
  // F-14: an annotation with this prefix sets any property of the container's systemd scope.
  out.member("potentiallyUnsafeConfigAnnotations",
             std::vector<std::string>{"org.systemd.property."});
  out.end_object();
  return std::move(out).take() + "\n";
}

}  // namespace ocirun::bundle
