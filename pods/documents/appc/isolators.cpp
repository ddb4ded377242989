#include <algorithm>
#include <array>

#include "linux/process/capabilities.hpp"
#include "pods/documents/appc/types.hpp"

namespace ocirun::pods {
namespace {

/// {"request": …, "limit": …} of resource/memory and resource/cpu. A request above the limit is a
/// problem. Another request counts for the admission.
template <typename T>
struct Bounds {
  std::optional<T> request, limit;
};

/// Reads `default`, which rkt writes. It may be true only for resources of devices and interfaces.
constexpr auto must_be_false = [](Value at, auto& /*out*/) {
  bool flag = false;
  if (!boolean(at, flag)) return false;
  if (!flag) return true;
  at.problem("must be false: memory and CPU time are not limited by device");
  return false;
};

template <typename T, typename Reader>
bool read_bounds(Value at, std::optional<T>& request, std::optional<T>& limit, Reader reader) {
  const auto table = exact_fields<Bounds<T>>(field("request", &Bounds<T>::request, reader),
                                             field("limit", &Bounds<T>::limit, reader),
                                             part("default", must_be_false));
  Bounds<T> bounds;
  if (!table(at, bounds)) return false;
  if (!bounds.request && !bounds.limit) {
    at.problem("must have a limit or a request: it has neither");
    return false;
  }
  if (bounds.request && bounds.limit && *bounds.limit < *bounds.request) {
    at.problem_at("limit", "must not be below the request");
    return false;
  }
  request = bounds.request;
  limit = bounds.limit;
  return true;
}

struct NameSet {
  std::vector<std::string> names;
  std::string error;
};

bool capability_names(Value at, std::vector<std::string>& out) {
  if (!strings(at, out)) return false;
  bool good = true;
  for (const Value item : at) {
    if (linux::capability_number(item.node().text)) continue;
    item.problem("must be a capability such as \"CAP_NET_BIND_SERVICE\", not {}", found(item));
    good = false;
  }
  return good;
}

/// "" is the same as no name: a call that is not allowed ends the program.
bool error_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (out.empty() || find_errno(out)) return true;
  at.problem("must be the name of an error such as \"EPERM\", not {}", found(at));
  return false;
}

constexpr auto kCapabilitySet =
    exact_fields<NameSet>(required("set", &NameSet::names, capability_names));
/// Names of system calls. A name that begins with "@" is that of a set.
bool call_names(Value at, std::vector<std::string>& out) {
  if (!strings(at, out)) return false;
  bool good = true;
  for (const Value item : at) {
    const std::string_view name = item.node().text;
    const bool is_set = name.starts_with('@');
    if (!is_set && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos &&
        !name.empty())
      continue;
    if (name == "@appc.io/all" || name == "@appc.io/empty") continue;
    item.problem(
        "must be the name of a system call, \"@appc.io/all\" or \"@appc.io/empty\", not {}",
        found(item));
    good = false;
  }
  return good;
}

constexpr auto kSystemCallSet = exact_fields<NameSet>(required("set", &NameSet::names, call_names),
                                                      field("errno", &NameSet::error, error_name));

bool system_calls(Value at, bool allowed, Security& out) {
  NameSet set;
  if (!kSystemCallSet(at, set)) return false;
  if (out.system_calls) {
    at.problem("a retain set and a remove set of system calls exclude each other");
    return false;
  }
  out.system_calls = {
      .allowed = allowed, .names = std::move(set.names), .errno_name = std::move(set.error)};
  return true;
}

bool capabilities(Value at, bool retained, Security& out) {
  NameSet set;
  if (!kCapabilitySet(at, set)) return false;
  if (out.retained_capabilities || out.removes_capabilities) {
    at.problem("a retain set and a remove set of capabilities exclude each other");
    return false;
  }
  out.removes_capabilities = !retained;
  if (retained)
    out.retained_capabilities = std::move(set.names);
  else
    out.removed_capabilities = std::move(set.names);
  return true;
}

struct Profile {
  std::string profile;
};
struct Context {
  std::string user, role, type, level;
};

bool selinux_context(Value at, std::string& out) {
  static constexpr auto kContext =
      exact_fields<Context>(required("user", &Context::user, nonempty_string),
                            required("role", &Context::role, nonempty_string),
                            required("type", &Context::type, nonempty_string),
                            required("level", &Context::level, nonempty_string));
  Context context;
  if (!kContext(at, context)) return false;
  out = fmt::format("{}:{}:{}:{}", context.user, context.role, context.type, context.level);
  return true;
}

bool apparmor_profile(Value at, std::string& out) {
  static constexpr auto kProfile =
      exact_fields<Profile>(required("profile", &Profile::profile, nonempty_string));
  Profile profile;
  if (!kProfile(at, profile)) return false;
  out = std::move(profile.profile);
  return true;
}

/// A reader of an isolator of an app. kAppIsolators has all isolators that ocirun supports.
struct Isolator {
  std::string_view name;
  bool (*read)(Value, Container&);
};

constexpr std::array kAppIsolators{
    Isolator{"resource/memory",
             [](Value at, Container& out) {
               return read_bounds(at, out.resources.requests.memory, out.resources.limits.memory,
                                  kubernetes_bytes);
             }},
    Isolator{"resource/cpu",
             [](Value at, Container& out) {
               return read_bounds(at, out.resources.requests.cpus, out.resources.limits.cpus,
                                  kubernetes_cpus);
             }},
    Isolator{"os/linux/capabilities-retain-set",
             [](Value at, Container& out) { return capabilities(at, true, out.security); }},
    Isolator{"os/linux/capabilities-remove-set",
             [](Value at, Container& out) { return capabilities(at, false, out.security); }},
    Isolator{"os/linux/seccomp-retain-set",
             [](Value at, Container& out) { return system_calls(at, true, out.security); }},
    Isolator{"os/linux/seccomp-remove-set",
             [](Value at, Container& out) { return system_calls(at, false, out.security); }},
    Isolator{"os/linux/no-new-privileges",
             [](Value at, Container& out) {
               return boolean(at, out.security.no_new_privileges.emplace());
             }},
    Isolator{"os/linux/oom-score-adj",
             [](Value at, Container& out) {
               return whole_number(-1000, 1000)(at, out.security.oom_score_adj.emplace());
             }},
    Isolator{"os/linux/cpu-shares",
             [](Value at, Container& out) {
               return whole_number(2, 262'144)(at, out.security.cpu_shares.emplace());
             }},
    Isolator{"os/linux/apparmor-profile",
             [](Value at, Container& out) {
               return apparmor_profile(at, out.security.apparmor_profile);
             }},
    Isolator{
        "os/linux/selinux-context",
        [](Value at, Container& out) { return selinux_context(at, out.security.selinux_label); }},
};

/// Reads a list of {"name", "value"}. `read` gets the name as a value, and the isolator's value.
template <typename Read>
bool read_isolators(Value at, Read read) {
  struct Item {
    std::string name;
    Place name_place = nullptr, value = nullptr;
  };
  static constexpr auto kItem =
      exact_fields<Item>(required_part("name",
                                       [](Value name, Item& out) {
                                         out.name_place = &name.node();
                                         return string(name, out.name);
                                       }),
                         required_part("value", [](Value value, Item& out) {
                           out.value = &value.node();
                           return true;
                         }));
  std::vector<Item> items;
  if (!list_of(kItem)(at, items)) return false;
  report_twice(at, items, by("name", &Item::name));
  bool good = true;
  for (const Item& item : items)
    good &= read(Value(*item.name_place, at.report()), item.name, Value(*item.value, at.report()));
  return good;
}

/// Isolators of App Container that ocirun does not support.
constexpr std::array<std::string_view, 4> kNotDone = {
    "resource/block-bandwidth", "resource/block-iops", "resource/network-bandwidth",
    "os/unix/sysctl"};

std::vector<std::string_view> isolator_names(std::size_t count) {
  std::vector<std::string_view> names;
  for (const Isolator& isolator : kAppIsolators)
    if (names.size() < count) names.push_back(isolator.name);
  return names;
}

}  // namespace

bool app_isolators(Value at, Container& out) {
  return read_isolators(at, [&](Value name, const std::string& text, Value value) {
    const auto* isolator = std::ranges::find(kAppIsolators, text, &Isolator::name);
    if (isolator != kAppIsolators.end()) return isolator->read(value, out);
    if (std::ranges::find(kNotDone, text) != kNotDone.end())
      return refuse_known(name, text, "nothing here keeps this isolator");
    bundle::unknown_word(name, "isolator", isolator_names(kAppIsolators.size()));
    return false;
  });
}

bool pod_isolators(Value at, Amounts& out) {
  return read_isolators(at, [&](Value name, const std::string& text, Value value) {
    std::optional<double> cpus;
    std::optional<std::uint64_t> memory;
    if (const auto request = value.member("request"))
      request->warning("has no effect: the requests of the apps count for the admission");
    if (text == "resource/memory") return read_bounds(value, memory, out.memory, kubernetes_bytes);
    if (text == "resource/cpu") return read_bounds(value, cpus, out.cpus, kubernetes_cpus);
    if (std::ranges::find(kNotDone, text) != kNotDone.end())
      return refuse_known(name, text, "nothing here keeps this isolator");
    if (std::ranges::find(kAppIsolators, text, &Isolator::name) != kAppIsolators.end())
      name.problem(
          "is an isolator of an app: a whole pod has resource/memory and resource/cpu only");
    else
      bundle::unknown_word(name, "isolator", isolator_names(2));
    return false;
  });
}

}  // namespace ocirun::pods
