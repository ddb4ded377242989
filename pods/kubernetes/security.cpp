#include <algorithm>
#include <array>

#include "linux/base/name_table.hpp"
#include "linux/process/capabilities.hpp"
#include "pods/kubernetes/pod_spec.hpp"

namespace ocirun::pods {
namespace {

struct CapabilityChange {
  std::vector<std::string> added, dropped;
};

std::string whole_name(const std::string& name) {
  return name.starts_with("CAP_") ? name : "CAP_" + name;
}

/// Whether all names are known; they get the prefix CAP_.
bool complete_names(Value at, std::string_view member, std::vector<std::string>& names) {
  for (std::string& name : names) {
    if (member == "drop" && name == "ALL") continue;
    if (name == "ALL") {
      at.problem_at(member, "ALL is not supported: name each capability that the container needs");
      return false;
    }
    if (!linux::capability_number(whole_name(name))) {
      at.problem_at(member, "unknown capability \"{}\"", name);
      return false;
    }
    name = whole_name(name);
  }
  return true;
}

/// Names of capabilities with or without CAP_, and "ALL" for all that are dropped. The contract of
/// Knative allows only NET_BIND_SERVICE to be added.
template <Dialect dialect>
bool capabilities(Value at, Container& container) {
  static constexpr auto kTable =
      exact_fields<CapabilityChange>(field("add", &CapabilityChange::added, strings),
                                     field("drop", &CapabilityChange::dropped, strings));
  Security& out = container.security;
  CapabilityChange change;
  if (!kTable(at, change)) return false;
  if (dialect == Dialect::kKnative)
    for (const std::string& name : change.added)
      if (whole_name(name) != "CAP_NET_BIND_SERVICE") {
        at.problem_at("add", "only NET_BIND_SERVICE may be added, not \"{}\"", name);
        return false;
      }
  if (!complete_names(at, "add", change.added)) return false;
  if (std::ranges::find(change.dropped, "ALL") != change.dropped.end()) {
    out.retained_capabilities = std::move(change.added);
    return true;
  }
  if (!complete_names(at, "drop", change.dropped)) return false;
  out.removed_capabilities = std::move(change.dropped);
  if (dialect == Dialect::kKubernetes) out.added_capabilities = std::move(change.added);
  return true;
}

/// A numeric id as text, as Container has it.
template <typename Reader>
constexpr auto id_text(std::string Container::* member, Reader reader) {
  return [=](Value at, Container& out) {
    std::conditional_t<std::same_as<Reader, decltype(&bundle::uid)>, Uid, Gid> id;
    if (!reader(at, id)) return false;
    out.*member = fmt::format("{}", id.value());
    return true;
  };
}

constexpr linux::Named<SeccompRequest::Kind> kSeccompKinds[] = {
    {"RuntimeDefault", SeccompRequest::Kind::kRuntimeDefault},
    {"Localhost", SeccompRequest::Kind::kLocalhost},
    {"Unconfined", SeccompRequest::Kind::kUnconfined}};

bool profile_file(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (!out.starts_with('/') && !has_dot_dot(out)) return true;
  at.problem("must be a path without \"..\" in the directory of --seccomp-profiles, not {}",
             found(at));
  return false;
}

constexpr auto kSeccomp = bundle::checked(
    placed(exact_fields<SeccompRequest>(
        required("type", &SeccompRequest::kind,
                 bundle::word(
                     "type of a seccomp profile",
                     [](std::string_view word) { return linux::value_of(kSeccompKinds, word); },
                     [] { return linux::names_of(kSeccompKinds); })),
        field("localhostProfile", &SeccompRequest::file, profile_file))),
    [](Value at, const SeccompRequest& request) {
      const bool is_localhost = request.kind == SeccompRequest::Kind::kLocalhost;
      if (is_localhost && request.file.empty())
        at.problem_at("localhostProfile", "is missing, the type Localhost needs it");
      if (!is_localhost && !request.file.empty())
        at.problem_at("localhostProfile", "is only for the type Localhost");
    });

constexpr auto kUser = part("runAsUser", id_text(&Container::user, &bundle::uid));
constexpr auto kGroup = part("runAsGroup", id_text(&Container::group, &bundle::gid));
constexpr auto kNonRoot = field("runAsNonRoot", &Container::forbid_root, boolean);
constexpr auto kSeccompMember = field("seccompProfile", &Container::seccomp, kSeccomp);

/// The members of a container alone.
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
      part("capabilities", capabilities<dialect>), rows...);
}

constexpr UnsupportedName kWindows{"windowsOptions",
                                   "containers of another system do not run here"};
constexpr std::string_view kForbidden = "the Knative contract does not let a developer set it";
constexpr std::array kForbiddenSecurity{
    UnsupportedName{"privileged", kForbidden},
    UnsupportedName{"procMount", kForbidden},
    UnsupportedName{"seLinuxOptions", kForbidden},
    UnsupportedName{"appArmorProfile", kForbidden},
    kWindows,
};
constexpr auto kKnativeSecurity = container_members<Dialect::kKnative>().beside(
    [](Value member) { return refuse_if_listed(member, kForbiddenSecurity); });

struct SelinuxOptions {
  std::string user, role, type, level;
};

/// A process has a whole label: only a container engine that knows the host's policy could add
/// missing parts.
bool selinux_options(Value at, Container& out) {
  static constexpr auto kTable =
      exact_fields<SelinuxOptions>(required("user", &SelinuxOptions::user, nonempty_string),
                                   required("role", &SelinuxOptions::role, nonempty_string),
                                   required("type", &SelinuxOptions::type, nonempty_string),
                                   required("level", &SelinuxOptions::level, nonempty_string));
  SelinuxOptions read;
  if (!kTable(at, read)) return false;
  out.security.selinux_label =
      fmt::format("{}:{}:{}:{}", read.user, read.role, read.type, read.level);
  return true;
}

struct AppArmor {
  std::string type, file;
};

bool apparmor_profile(Value at, Container& out) {
  static constexpr auto kTable =
      exact_fields<AppArmor>(required("type", &AppArmor::type, nonempty_string),
                             field("localhostProfile", &AppArmor::file, nonempty_string));
  AppArmor read;
  if (!kTable(at, read)) return false;
  const bool is_localhost = read.type == "Localhost";
  if (is_localhost && read.file.empty()) {
    at.problem_at("localhostProfile", "is missing, the type Localhost needs it");
    return false;
  }
  if (!is_localhost && !read.file.empty()) {
    at.problem_at("localhostProfile", "is only for the type Localhost");
    return false;
  }
  out.security.apparmor_profile = read.file;
  if (is_localhost || read.type == "Unconfined") return true;
  const Value type = *at.member("type");
  if (read.type == "RuntimeDefault")
    return refuse_known(type, "appArmorProfile",
                        "there is no default profile of AppArmor, name one of the host");
  static constexpr std::array<std::string_view, 3> kTypes = {"Localhost", "Unconfined",
                                                             "RuntimeDefault"};
  bundle::unknown_word(type, "type of an AppArmor profile", kTypes);
  return false;
}

constexpr auto kSelinux = part("seLinuxOptions", selinux_options);
constexpr auto kAppArmor = part("appArmorProfile", apparmor_profile);
constexpr auto kContainerSecurity =
    container_members<Dialect::kKubernetes>(
        kSelinux, kAppArmor,
        part("procMount",
             [](Value at, Container&) {
               std::string word;
               if (!string(at, word)) return false;
               return word == "Default" ||
                      refuse_known_name(at, "a container sees the safe part of /proc");
             }))
        .beside([](Value member) {
          static constexpr std::array kOthers{
              UnsupportedName{"privileged",
                              "containers get no devices of the host, capabilities.add gives "
                              "single powers"},
              kWindows,
          };
          return refuse_if_listed(member, kOthers);
        });

/// What a pod's securityContext says for all containers.
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
  return part(key, [=](Value at, PodContext&) {
    std::string word;
    if (!string(at, word)) return false;
    return word == usual || refuse_known_name(at, why);
  });
}

constexpr auto kPodSecurity =
    exact_fields<PodContext>(
        for_all(kUser), for_all(kGroup), for_all(kNonRoot), for_all(kSeccompMember),
        for_all(kSelinux), for_all(kAppArmor),
        field("supplementalGroups", &PodContext::groups, list_of(bundle::gid)),
        field("fsGroup", &PodContext::volume_group, bundle::gid),
        only_word("supplementalGroupsPolicy", "Merge", "a process has the groups of its image too"),
        no_effect("fsGroupChangePolicy", "a volume gets its group when it is made"))
        .beside([](Value member) {
          static constexpr std::array kOthers{
              UnsupportedName{"sysctls", "a pod has the settings of a new namespace"},
              UnsupportedName{"seLinuxChangePolicy", "volumes keep their labels"},
              kWindows,
          };
          return refuse_if_listed(member, kOthers);
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
