#include <algorithm>
#include <array>

#include "pods/documents/kubernetes/privileges.hpp"
#include "pods/documents/kubernetes/unsupported.hpp"

namespace ocirun::pods {
namespace {

/// A numeric id as text, as Container has it.
template <typename Reader>
constexpr auto id_text(std::string Container::* member, Reader reader) {
  return [=](Value at, Container& out) {
    std::conditional_t<std::same_as<Reader, decltype(&user_id)>, Uid, Gid> id;
    if (!reader(at, id)) return false;
    out.*member = fmt::format("{}", id.value());
    return true;
  };
}

constexpr auto kUser = part("runAsUser", id_text(&Container::user, &user_id));
constexpr auto kGroup = part("runAsGroup", id_text(&Container::group, &group_id));
constexpr auto kNonRoot = field("runAsNonRoot", &Container::forbid_root, boolean);
constexpr auto kSeccompMember = field("seccompProfile", &Container::seccomp, context_seccomp);

/// The members of the securityContext of a container.
template <Dialect dialect, typename... Rows>
constexpr auto container_members(Rows... rows) {
  return exact_fields<Container>(
      kUser, kGroup, kNonRoot, kSeccompMember,
      field("readOnlyRootFilesystem", &Container::read_only_root, boolean),
      part("allowPrivilegeEscalation",
           [](Value at, Container& out) {
             bool allowed = true;
             if (!boolean(at, allowed)) return false;
             out.security.no_new_privileges = !allowed;
             return true;
           }),
      part("capabilities",
           [](Value at, Container& out) { return context_capabilities(at, out, dialect); }),
      rows...);
}

constexpr std::string_view kForbidden = "the Knative contract does not let a developer set it";
constexpr std::array kForbiddenSecurity{
    UnsupportedName{"privileged", kForbidden},
    UnsupportedName{"procMount", kForbidden},
    UnsupportedName{"seLinuxOptions", kForbidden},
    UnsupportedName{"appArmorProfile", kForbidden},
    UnsupportedName{"windowsOptions", "containers of another system do not run here"},
};
constexpr auto kKnativeSecurity = container_members<Dialect::kKnative>().beside(
    [](Value member) { return refuse_if_listed(member, kForbiddenSecurity); });

constexpr auto kSelinux = part("seLinuxOptions", context_selinux);
constexpr auto kAppArmor = part("appArmorProfile", context_apparmor);
constexpr auto kContainerSecurity =
    container_members<Dialect::kKubernetes>(
        kSelinux, kAppArmor,
        part_unless_empty<std::string>("procMount",
                                       [](Value at, Container&) {
                                         std::string word;
                                         if (!string(at, word)) return false;
                                         return word == "Default" ||
                                                refuse_known_name(
                                                    at, "a container sees the safe part of /proc");
                                       }))
        .beside([](Value member) {
          return refuse_if_listed(member, unsupported_of(PartOfPod::kContainerSecurity));
        });

/// The members of a pod's securityContext that hold for all containers.
struct PodContext {
  Container common;
  std::vector<Gid> groups;
  std::optional<Gid> volume_group;
};

template <typename Row>
constexpr auto for_all(Row row) {
  return part(row.key, [row](Value at, PodContext& out) {
    const std::size_t before = at.report().problem_count();
    row.read(at, out.common);
    return at.report().problem_count() == before;
  });
}

/// A word that must be `usual`, because ocirun does nothing else.
constexpr auto only_word(std::string_view key, std::string_view usual, std::string_view why) {
  return part_unless_empty<std::string>(key, [=](Value at, PodContext&) {
    std::string word;
    if (!string(at, word)) return false;
    return word == usual || refuse_known_name(at, why);
  });
}

constexpr auto kPodSecurity =
    exact_fields<PodContext>(
        for_all(kUser), for_all(kGroup), for_all(kNonRoot), for_all(kSeccompMember),
        for_all(kSelinux), for_all(kAppArmor),
        field("supplementalGroups", &PodContext::groups, extra_groups),
        field("fsGroup", &PodContext::volume_group, group_id),
        only_word("supplementalGroupsPolicy", "Merge", "a process has the groups of its image too"),
        no_effect("fsGroupChangePolicy", "a volume gets its group when it is made"))
        .beside([](Value member) {
          return refuse_if_listed(member, unsupported_of(PartOfPod::kPodSecurity));
        });

void take_over(const PodContext& context, Container& container) {
  const Container& common = context.common;
  if (container.user.empty()) container.user = common.user;
  if (container.group.empty()) container.group = common.group;
  if (!container.seccomp) container.seccomp = common.seccomp;
  const bundle::Node* context_of_its_own = container.place->find("securityContext");
  const auto says = [&](std::string_view name) {
    return context_of_its_own != nullptr && context_of_its_own->find(name) != nullptr;
  };
  if (!says("runAsNonRoot")) container.forbid_root = common.forbid_root;
  Security& own = container.security;
  if (!says("seLinuxOptions")) own.selinux_label = common.security.selinux_label;
  if (!says("appArmorProfile")) own.apparmor_profile = common.security.apparmor_profile;
  container.extra_groups = context.groups;
}

void check_user(Value at, const Container& container) {
  if (container.forbid_root && container.user == "0")
    at.problem_at("runAsUser", "is 0, which runAsNonRoot forbids");
}

}  // namespace

bool knative_security(Value at, Container& out) {
  return bundle::checked(kKnativeSecurity, check_user)(at, out);
}

bool container_security(Value at, Container& out) { return kContainerSecurity(at, out); }

bool pod_security(std::optional<Value> at, Value spec, Pod& out) {
  PodContext context;
  if (at && !kPodSecurity(*at, context)) return false;
  out.volume_group = context.volume_group;
  if (context.volume_group &&
      std::ranges::find(context.groups, *context.volume_group) == context.groups.end())
    context.groups.push_back(*context.volume_group);
  for (std::vector<Container>* containers : {&out.init_containers, &out.containers})
    for (Container& container : *containers) {
      take_over(context, container);
      const Value place(*container.place, spec.report());
      if (const auto own = place.member("securityContext"))
        check_user(*own, container);
      else if (at)
        check_user(*at, container);
    }
  if (context.volume_group)
    for (Volume& volume : out.volumes)
      if (volume.kind != Volume::Source::kHost) volume.group = context.volume_group;
  return true;
}

}  // namespace ocirun::pods
