#include "pods/documents/kubernetes/privileges.hpp"

#include <algorithm>
#include <array>

#include "bundle/config/nearest_capability.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/name_table.hpp"
#include "linux/process/capabilities.hpp"

namespace ocirun::pods {
namespace {

struct CapabilityChange {
  std::vector<std::string> added, dropped;
};

/// Names have no case, as for containerd.
std::string whole_name(std::string name) {
  for (char& c : name) c = linux::upper(c);
  return name == "ALL" || name.starts_with("CAP_") ? name : "CAP_" + name;
}

/// Whether all names are known; they get upper case, and the prefix CAP_.
bool complete_names(Value at, std::string_view member, std::vector<std::string>& names) {
  for (std::string& name : names) {
    const std::string whole = whole_name(name);
    if (whole == "ALL") {
      name = whole;
      if (member == "add" &&
          !refuse_known(*at.member(member), "capabilities",
                        "ALL are too many: name each capability that the container needs"))
        return false;
      continue;
    }
    if (!linux::capability_number(whole)) {
      const std::string near = bundle::nearest_capability(name);
      at.problem_at(member, "unknown capability \"{}\"{}", name,
                    near.empty() ? "" : fmt::format(" (did you mean {}?)", near.substr(4)));
      return false;
    }
    name = whole;
  }
  return true;
}

constexpr linux::Named<SeccompRequest::Kind> kSeccompKinds[] = {
    {"RuntimeDefault", SeccompRequest::Kind::kRuntimeDefault},
    {"Localhost", SeccompRequest::Kind::kLocalhost},
    {"Unconfined", SeccompRequest::Kind::kUnconfined}};

/// Limits a text to a page, as the kernel does: each container of a pod gets a copy of the text.
bool has_usual_length(Value at, const std::string& text) {
  constexpr std::size_t kLongest = 4095;
  if (text.size() <= kLongest) return true;
  at.problem("must have at most {} characters, not {}", kLongest, text.size());
  return false;
}

bool profile_file(Value at, std::string& out) {
  if (!nonempty_string(at, out) || !has_usual_length(at, out)) return false;
  if (!out.starts_with('/') && !has_dot_dot(out)) return true;
  at.problem("must be a path without \"..\" in the directory of --seccomp-profiles, not {}",
             found(at));
  return false;
}

constexpr auto kSeccomp = bundle::checked(
    placed(exact_fields<SeccompRequest>(
        required("type", &SeccompRequest::kind,
                 word_of<kSeccompKinds>("type of a seccomp profile")),
        field("localhostProfile", &SeccompRequest::file, profile_file))),
    [](Value at, const SeccompRequest& request) {
      const bool is_localhost = request.kind == SeccompRequest::Kind::kLocalhost;
      if (is_localhost && request.file.empty())
        at.problem_at("localhostProfile", "is missing, the type Localhost needs it");
      if (!is_localhost && !request.file.empty())
        at.problem_at("localhostProfile", "is only for the type Localhost");
    });

/// The parts that are not given are those of the label of a usual container.
struct SelinuxOptions {
  std::string user = "system_u", role = "system_r", type = "container_t", level = "s0";
};

struct AppArmor {
  std::string type, file;
};

}  // namespace

bool context_capabilities(Value at, Container& container, Dialect dialect) {
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
  if (!complete_names(at, "drop", change.dropped)) return false;
  std::erase(change.added, "ALL");  // is not supported
  if (std::ranges::find(change.dropped, "ALL") != change.dropped.end()) {
    out.retained_capabilities = std::move(change.added);
    return true;
  }
  out.removed_capabilities = std::move(change.dropped);
  if (dialect == Dialect::kKubernetes) out.added_capabilities = std::move(change.added);
  return true;
}

bool context_seccomp(Value at, SeccompRequest& out) { return kSeccomp(at, out); }

bool context_selinux(Value at, Container& out) {
  static constexpr auto kTable = exact_fields<SelinuxOptions>(
      field("user", &SelinuxOptions::user, string), field("role", &SelinuxOptions::role, string),
      field("type", &SelinuxOptions::type, string), field("level", &SelinuxOptions::level, string));
  SelinuxOptions read;
  if (!kTable(at, read)) return false;
  bool asks_for_label = false;
  for (const Value member : at) asks_for_label |= !member.is_null() && !is_empty(member.node());
  if (!asks_for_label) return true;
  out.security.selinux_label =
      fmt::format("{}:{}:{}:{}", read.user, read.role, read.type, read.level);
  return has_usual_length(at, out.security.selinux_label);
}

bool context_apparmor(Value at, Container& out) {
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
  if (!has_usual_length(*at.member(is_localhost ? "localhostProfile" : "type"), read.file))
    return false;
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

}  // namespace ocirun::pods
