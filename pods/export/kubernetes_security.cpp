#include <algorithm>

#include "linux/base/text.hpp"
#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {
namespace {

/// Adds a numeric id. Kubernetes does not look names up in the image.
void add_id(Translation& translation, const Container& container, std::string_view member,
            std::string_view in_app, const std::string& id, YamlPart& out) {
  if (id.empty()) return;
  const auto number = linux::number<std::uint32_t>(id);
  const bool is_option = !translation.given().user.empty();
  if (number)
    out.add(member, *number);
  else if (is_option)
    translation.lose(nullptr, "", "--user: must be a number, not \"{}\"", id);
  else
    translation.lose(container.place, in_app,
                     "must be a number, which --user sets for all containers, not \"{}\"", id);
}

std::string short_name(std::string_view capability) {
  if (capability.starts_with("CAP_")) capability.remove_prefix(4);
  return std::string(capability);
}

YamlPart capabilities(Translation& translation, const Security& security) {
  YamlPart out = translation.new_object();
  if (security.retained_capabilities) {
    out.add("drop", std::vector<std::string>{"ALL"});
    if (security.retained_capabilities->empty()) return out;
    YamlPart kept = out.add_list("add");
    for (const std::string& name : *security.retained_capabilities) kept.add("", short_name(name));
    return out;
  }
  const auto add_names = [&](std::string_view member, const std::vector<std::string>& names) {
    YamlPart list = out.new_list();
    for (const std::string& name : names) list.add("", short_name(name));
    out.add_unless_empty(member, list);
  };
  add_names("drop", security.removed_capabilities);
  add_names("add", security.added_capabilities);
  return out;
}

/// "USER:ROLE:TYPE:LEVEL", of which the level may contain ":".
YamlPart selinux_options(Translation& translation, std::string_view label) {
  YamlPart out = translation.new_object();
  for (const std::string_view member : {"user", "role", "type"})
    out.add_unless_empty(member, linux::cut(label, ':'));
  out.add_unless_empty("level", label);
  return out;
}

YamlPart seccomp_profile(Translation& translation, const Container& container) {
  YamlPart out = translation.new_object();
  const std::optional<SeccompRequest::Kind>& given = translation.request().seccomp;
  if (!container.seccomp && !given) return out;
  switch (container.seccomp ? container.seccomp->kind : *given) {
    case SeccompRequest::Kind::kRuntimeDefault:
      out.add("type", "RuntimeDefault");
      break;
    case SeccompRequest::Kind::kUnconfined:
      out.add("type", "Unconfined");
      break;
    case SeccompRequest::Kind::kLocalhost:
      out.add("type", "Localhost");
      out.add("localhostProfile", container.seccomp->file);
      break;
  }
  return out;
}

void lose_unsayable(Translation& translation, const Container& container) {
  const Security& security = container.security;
  if (security.system_calls)
    translation.lose(
        container.place, "app/isolators",
        "a set of system calls must be a file of each machine, which seccompProfile of "
        "the type Localhost names");
  if (security.oom_score_adj)
    translation.lose(container.place, "app/isolators",
                     "os/linux/oom-score-adj {}: Kubernetes computes it from the memory that the "
                     "container requests",
                     *security.oom_score_adj);
}

}  // namespace

YamlPart kubernetes_security(Translation& translation, const Container& container) {
  const Security& security = container.security;
  YamlPart out = translation.new_object();
  add_id(translation, container, "runAsUser", "app/user", container.user, out);
  add_id(translation, container, "runAsGroup", "app/group", container.group, out);
  if (container.forbid_root) out.add("runAsNonRoot", true);
  if (container.read_only_root) out.add("readOnlyRootFilesystem", true);
  if (security.no_new_privileges) out.add("allowPrivilegeEscalation", !*security.no_new_privileges);
  out.add_unless_empty("capabilities", capabilities(translation, security));
  if (!security.selinux_label.empty())
    out.add("seLinuxOptions", selinux_options(translation, security.selinux_label));
  if (!security.apparmor_profile.empty()) {
    YamlPart profile = out.add_object("appArmorProfile");
    profile.add("type", "Localhost");
    profile.add("localhostProfile", security.apparmor_profile);
  }
  out.add_unless_empty("seccompProfile", seccomp_profile(translation, container));
  lose_unsayable(translation, container);
  return out;
}

}  // namespace ocirun::pods
