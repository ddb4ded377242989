#include "linux/base/text.hpp"
#include "pods/export/swarm.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kIsolators = "app/isolators";

/// Loses what the document says about the security of a container. `member`: a member of the
/// securityContext of the container or the pod. App Container has isolators instead.
template <typename... Args>
void lose_security(Translation& translation, const Container& container, std::string_view member,
                   fmt::format_string<Args...> format, Args&&... args) {
  const std::string sentence = fmt::vformat(format, fmt::make_format_args(args...));
  if (translation.pod().kind == Kind::kAppc)
    return translation.lose(container.place, kIsolators, "{}", sentence);
  const auto says = [&](Place place) {
    const bundle::Node* context = place->find("securityContext");
    return context != nullptr && context->find(member) != nullptr;
  };
  const Place spec = container_list_owner(container);
  translation.lose(!says(container.place) && says(spec) ? spec : container.place,
                   fmt::format("securityContext/{}", member), "{}", sentence);
}

/// Loses additional groups: a service has those that the image's /etc/group gives its user.
void lose_groups(Translation& translation, const Container& container) {
  const Pod& pod = translation.pod();
  if (pod.kind == Kind::kAppc) {
    for (const Gid gid : container.extra_groups)
      translation.lose(container.place, "app/supplementaryGIDs",
                       "a service has the additional groups of the image's /etc/group, not {}",
                       gid.value());
    return;
  }
  if (&container != &pod.containers.front()) return;  // the groups are those of the whole pod
  for (const Gid gid : container.extra_groups)
    if (gid != pod.volume_group)
      translation.lose(container_list_owner(container), "securityContext/supplementalGroups",
                       "a service has the additional groups of the image's /etc/group, not {}",
                       gid.value());
}

/// Writes the user as "USER[:GROUP]". Swarm takes no group without a user, and cannot forbid root:
/// both are reported as lost.
void add_user(Translation& translation, const Container& container, YamlPart& service) {
  if (!container.user.empty())
    service.add("user", container.group.empty()
                            ? container.user
                            : fmt::format("{}:{}", container.user, container.group));
  else if (!container.group.empty())
    lose_security(translation, container, "runAsGroup",
                  "the group {} needs a user (--user USER:GROUP)", container.group);
  const auto number = linux::number<std::uint32_t>(container.user);
  const bool may_be_root = !number || *number == 0;
  if (container.forbid_root && may_be_root && translation.given().forbid_root)
    translation.lose(
        nullptr, "",
        "--forbid-root: Swarm does not ask who the user is: --user with a number above "
        "0 is not root");
  else if (container.forbid_root && may_be_root)
    lose_security(translation, container, "runAsNonRoot",
                  "Swarm does not ask who the user is: a number above 0 (--user) is not root");
  lose_groups(translation, container);
}

void add_capabilities(const Security& security, YamlPart& service) {
  if (security.retained_capabilities) {
    service.add("cap_drop", std::vector<std::string>{"ALL"});
    if (!security.retained_capabilities->empty())
      service.add("cap_add", *security.retained_capabilities);
    return;
  }
  if (!security.removed_capabilities.empty())
    service.add("cap_drop", security.removed_capabilities);
  if (!security.added_capabilities.empty()) service.add("cap_add", security.added_capabilities);
}

/// Loses a seccomp filter: services have only Docker's default one.
void lose_seccomp(Translation& translation, const Container& container) {
  using Kind = SeccompRequest::Kind;
  const std::optional<Kind>& given = translation.request().seccomp;
  if (container.seccomp && container.seccomp->kind != Kind::kRuntimeDefault)
    translation.lose(container.seccomp->place, "",
                     "a service has Docker's default seccomp filter, not {}",
                     container.seccomp->kind == Kind::kLocalhost ? container.seccomp->file
                                                                 : std::string("none"));
  else if (!container.seccomp && given && *given != Kind::kRuntimeDefault)
    translation.lose(nullptr, "", "--seccomp: a service has Docker's default seccomp filter");
  if (container.security.system_calls)
    translation.lose(container.place, kIsolators,
                     "a service has Docker's default seccomp filter, and no other set of system "
                     "calls");
}

}  // namespace

void add_swarm_security(Translation& translation, const Container& container, YamlPart& service) {
  const Security& security = container.security;
  add_user(translation, container, service);
  if (container.read_only_root) service.add("read_only", true);
  add_capabilities(security, service);
  lose_seccomp(translation, container);
  if (security.no_new_privileges && *security.no_new_privileges)
    lose_security(translation, container, "allowPrivilegeEscalation",
                  "a service cannot forbid new privileges (security_opt is ignored)");
  if (!security.apparmor_profile.empty())
    lose_security(translation, container, "appArmorProfile",
                  "a service cannot choose the AppArmor profile \"{}\"", security.apparmor_profile);
  if (!security.selinux_label.empty())
    lose_security(translation, container, "seLinuxOptions",
                  "a service cannot choose the SELinux label \"{}\"", security.selinux_label);
  if (security.oom_score_adj)
    translation.lose(container.place, kIsolators, "a service cannot choose the OOM score {}",
                     *security.oom_score_adj);
  if (security.cpu_shares)
    translation.lose(container.place, kIsolators, "a service has no CPU shares, such as {}",
                     *security.cpu_shares);
}

}  // namespace ocirun::pods
