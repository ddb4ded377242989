#include "pods/documents/model/scalars.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/reference.hpp"
#include "pods/documents/model/yaml_words.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

constexpr linux::Named<Protocol> kProtocols[] = {{"TCP", Protocol::kTcp}, {"UDP", Protocol::kUdp}};

constexpr linux::Named<Restart> kRestartRules[] = {
    {"Always", Restart::kAlways}, {"OnFailure", Restart::kOnFailure}, {"Never", Restart::kNever}};

std::optional<bool> boolean_of(const Node& node) {
  if (node.kind == Node::Kind::kBoolean) return node.boolean;
  if (!node.is_string() || !node.plain) return std::nullopt;
  const auto old = yaml_1_1_value(node.text);
  if (old != "true" && old != "false") return std::nullopt;
  return old == "true";
}

}  // namespace

bool string(Value at, std::string& out) {
  const Node& node = at.node();
  if (node.is_string() && node.plain)
    if (const auto old = yaml_1_1_value(node.text)) {
      at.problem(
          "must be a string: {0} is {1} in YAML 1.1, as kubectl reads it, and the text \"{0}\" in "
          "YAML 1.2: write \"{0}\" in quotes",
          node.text.substr(0, 40), *old);
      return false;
    }
  const bool scalar = node.kind == Node::Kind::kBoolean || node.kind == Node::Kind::kNatural ||
                      node.kind == Node::Kind::kNegative || node.kind == Node::Kind::kOther;
  if (!scalar) return bundle::text(at, out);
  const std::string text = node.text.empty() ? found(at) : std::string(node.text.substr(0, 40));
  at.problem("must be a string, not {0}: write \"{0}\" in quotes", text);
  return false;
}

bool nonempty_string(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (out.empty()) at.problem("must not be empty");
  return !out.empty();
}

bool command_line(Value at, std::vector<std::string>& out) {
  if (at.node().is_string()) {
    at.problem("must be a list of strings, one for each argument, not {}", found(at));
    return false;
  }
  if (!strings(at, out)) return false;
  if (!out.empty() && !out.front().empty()) return true;
  at.problem("must begin with the name of a program");
  return false;
}

bool boolean(Value at, bool& out) {
  const auto value = boolean_of(at.node());
  if (!value) return bundle::flag(at, out);
  out = *value;
  return true;
}

bool asks_for_nothing(const Node& node) { return is_empty(node) || boolean_of(node) == false; }

bool protocol(Value at, Protocol& out) {
  if (!at.node().is_string() || at.node().text != "SCTP")
    return word_of<kProtocols>("protocol")(at, out);
  out = Protocol::kSctp;
  return refuse_always(at, "SCTP is not forwarded, as TCP and UDP are: leave out this port",
                       bundle::Report::Export::kOfThePod);
}

bool restart_rule(Value at, Restart& out) {
  return word_of<kRestartRules>("rule of restart")(at, out);
}

bool is_dns_label(std::string_view text) {
  const auto alphanumeric = [](char c) { return linux::is_lower(c) || linux::is_digit(c); };
  return !text.empty() && text.size() <= 63 && alphanumeric(text.front()) &&
         alphanumeric(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '-'; });
}

bool dns_label(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_dns_label(out)) return true;
  at.problem(
      "must be 1 to 63 lower-case letters, digits and \"-\", with a letter or digit at both ends, "
      "not {}",
      found(at));
  return false;
}

bool dns_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (out.size() <= 253 && std::ranges::all_of(linux::split(out, '.'), is_dns_label)) return true;
  at.problem(
      "must be labels of lower-case letters, digits and \"-\" that dots separate, at most 253 "
      "characters, not {}",
      found(at));
  return false;
}

bool has_dot_dot(const std::string& path) {
  const auto parts = linux::split(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

bool image_reference(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  const auto reference = Reference::parse(out);
  if (!reference) at.problem("{}", bundle::reason(reference.error()));
  return reference.has_value();
}

bool container_path(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (!out.starts_with('/')) {
    at.problem("must be an absolute path, not {}", found(at));
    return false;
  }
  if (has_dot_dot(out)) {
    at.problem("must not contain \"..\": {}", found(at));
    return false;
  }
  std::string shortest;
  for (const std::string_view part : linux::words(out, '/'))
    if (part != ".") shortest.append("/").append(part);
  out = shortest.empty() ? "/" : std::move(shortest);
  constexpr std::size_t kLongest = 4095;  // PATH_MAX, with its NUL
  if (out.size() <= kLongest) return true;
  at.problem("must have at most {} characters, as a path of Linux, not {}", kLongest, out.size());
  return false;
}

bool path_below_root(Value at, std::string& out) {
  if (!container_path(at, out)) return false;
  if (out != "/") return true;
  at.problem("must be a path below the root directory, not {}", found(at));
  return false;
}

bool is_ip_address(const std::string& text) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, text.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool addresses_overlap(const std::string& one, const std::string& other) {
  const auto parse = [](const std::string& text) {
    std::pair<int, in6_addr> address{AF_INET6, {}};
    if (::inet_pton(AF_INET6, text.c_str(), &address.second) == 1) return address;
    address.first = AF_INET;
    ::inet_pton(AF_INET, text.c_str(), &address.second);
    return address;
  };
  if (one.empty() || other.empty()) return true;
  const auto a = parse(one), b = parse(other);
  return a.first == b.first &&
         (IN6_IS_ADDR_UNSPECIFIED(&a.second) || IN6_IS_ADDR_UNSPECIFIED(&b.second) ||
          IN6_ARE_ADDR_EQUAL(&a.second, &b.second));
}

std::string_view text_of_member(const Node& object, std::string_view name) {
  const Node* member = object.find(name);
  return member != nullptr && member->is_string() ? member->text : std::string_view();
}

bool has_exactly_one_of(Value at, std::string_view first, std::string_view second) {
  if (at.member(first).has_value() != at.member(second).has_value()) return true;
  at.problem("must have exactly one of {} and {}", first, second);
  return false;
}

void check_limits(Value at, const Resources& resources) {
  const auto below = [](const auto& limit, const auto& request) {
    return limit && request && *limit < *request;
  };
  if (below(resources.limits.cpus, resources.requests.cpus) ||
      below(resources.limits.memory, resources.requests.memory))
    at.problem_at("limits", "must not be below the requests");
}

bool refuse_known(Value at, std::string_view name, std::string_view why) {
  if (at.report().ignores(name)) {
    at.report().leave_out(at.node());
    at.warning("is left out, because of --ignore {}: {}", name, why);
    return true;
  }
  if (at.report().defers_unsupported()) {
    at.report().add_unsupported(
        {&at.node(), std::string(name), fmt::format("is not supported: {}", why)});
    return true;
  }
  at.problem("is not supported: {} (--ignore {} leaves it out)", why, name);
  return false;
}

bool refuse_always(Value at, std::string_view why, bundle::Report::Export written) {
  if (at.report().defers_unsupported()) {
    at.report().add_unsupported(
        {&at.node(), "", fmt::format("is not supported: {}", why), written});
    return true;
  }
  at.problem("is not supported: {}", why);
  return false;
}

bool refuse_known_name(Value at, std::string_view why) { return refuse_known(at, at.key(), why); }

bool refuse_if_listed(Value at, std::span<const UnsupportedName> names) {
  const auto found = std::ranges::find(names, at.key(), &UnsupportedName::name);
  if (found == names.end()) return false;
  if (at.is_null() || (asks_for_nothing(at.node()) && !found->matters_always)) return true;
  refuse_known_name(at, found->why);
  return true;
}

NamesOf::NamesOf(std::optional<Value> at, std::string_view key) {
  if (!at) return;
  is_faulty_ = !at->node().is_array() && !at->node().is_object();
  if (is_faulty_) return;
  for (const Value item : *at) {
    if (at->node().is_object()) {
      names_.insert(item.key());
      continue;
    }
    const auto found = item.member(key);
    const Value faulty = found.value_or(item);  // an item may have no name
    if (found) names_.insert(found->node().text);
    is_faulty_ =
        is_faulty_ || (found && !found->node().is_string()) ||
        (!at->report().ok() && at->report().has_problem_below(bundle::pointer_to(faulty.node())));
  }
}

bool are_few_containers(Value at) {
  std::size_t count = 0;
  for (auto item = at.begin(); item != at.end(); ++item) ++count;
  if (count <= kMostContainers) return true;
  at.problem("must have at most {} containers, not {}", kMostContainers, count);
  return false;
}

bool extra_groups(Value at, std::vector<Gid>& out) {
  constexpr std::size_t kMost = 65'535;  // NGROUPS_MAX of Linux, with the program's own group
  if (!list_of(group_id)(at, out)) return false;
  if (out.size() <= kMost) return true;
  at.problem("must have at most {} groups, as a process can have, not {}", kMost, out.size());
  return false;
}

bool string_map(Value at, std::map<std::string, std::string>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    const bool has_name = !member.key().empty() && !member.key().contains('\0');
    if (!has_name) member.problem("the name must not be empty, and must not contain NUL");
    good &= has_name;
    good &= string(member, out[std::string(member.key())]);
  }
  return good;
}

std::optional<int> find_errno(std::string_view name) {
  // POSIX and Linux have two names for these; strerrorname_np(3) knows one for each number.
  static constexpr linux::Named<int> kSecondNames[] = {
      {"EDEADLOCK", EDEADLOCK}, {"ENOTSUP", ENOTSUP}, {"EWOULDBLOCK", EWOULDBLOCK}};
  if (const auto number = linux::value_of(kSecondNames, name)) return number;
  constexpr int kMost = 4095;  // of a system call
  for (int number = 1; number <= kMost; ++number)
    if (const char* known = ::strerrorname_np(number); known != nullptr && name == known)
      return number;
  return std::nullopt;
}

}  // namespace ocirun::pods
