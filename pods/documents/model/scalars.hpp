#pragma once

// Readers (bundle/json/reader.hpp) of values that several of the five kinds of documents have.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "pods/documents/model/numbers.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// A string without NUL. For a number or a boolean, also for one that only YAML 1.1 has, the
/// problem says that YAML needs quotes.
bool string(Value at, std::string& out);
bool nonempty_string(Value at, std::string& out);
inline constexpr auto strings = list_of(string);
/// A list of strings, the first of which must exist and not be empty.
bool command_line(Value at, std::vector<std::string>& out);

/// true or false. Also y, n, yes, no, on and off without quotes, because these are booleans in YAML
/// 1.1.
bool boolean(Value at, bool& out);

/// Whether `node` is empty, or false as boolean() reads it: as if the member were absent.
bool asks_for_nothing(const bundle::Node& node);

/// "TCP" or "UDP". "SCTP" is a problem or, for an export, an unsupported part (refuse_always()).
bool protocol(Value at, Protocol& out);

/// "Always", "OnFailure" or "Never".
bool restart_rule(Value at, Restart& out);

/// A label of RFC 1123: at most 63 lower-case letters, digits and "-", no "-" at an end.
bool is_dns_label(std::string_view text);
bool dns_label(Value at, std::string& out);
/// DNS labels that dots separate, at most 253 characters together.
bool dns_name(Value at, std::string& out);

/// The name of an image: [HOST[:PORT]/]PATH[:TAG][@DIGEST]. Does not change the text.
bool image_reference(Value at, std::string& out);

/// An absolute path in the container, without "..". Shortens the path: "/a//b/./" becomes "/a/b".
bool container_path(Value at, std::string& out);
/// A container_path() other than "/", for a mount or a file.
bool path_below_root(Value at, std::string& out);
/// Whether the text is an address of IPv4 or IPv6.
bool is_ip_address(const std::string& text);

/// Whether a port opened at both addresses of IPv4 or IPv6 would be one port: they are the same, or
/// one of them is all addresses. "": all addresses of IPv4 and IPv6.
bool addresses_overlap(const std::string& one, const std::string& other);

/// Whether one component of `path` is "..".
bool has_dot_dot(const std::string& path);

/// The text of the member `name` of `object`; "" if there is no such string.
std::string_view text_of_member(const bundle::Node& object, std::string_view name);
/// Accepts any value: a row for a member that is read elsewhere.
inline constexpr auto any_value = [](Value, auto&) { return true; };
/// Whether exactly one of the members `first` and `second` is there. Reports a problem otherwise.
bool has_exactly_one_of(Value at, std::string_view first, std::string_view second);

/// Reports a limit that is below the request of the same resource (RX-11).
void check_limits(Value at, const Resources& resources);

/// An object of strings, such as labels and annotations.
bool string_map(Value at, std::map<std::string, std::string>& out);

/// Reads with `reader`, and sets the member `place` of the struct.
template <typename Reader>
constexpr auto placed(Reader reader) {
  return [reader](Value at, auto& out) {
    out.place = &at.node();
    return reader(at, out);
  };
}

/// A row for a name that has no effect here, for the reason `why`. It warns of the name.
constexpr auto no_effect(std::string_view key, std::string_view why) {
  return part(key, [why](Value at, auto&) {
    if (is_empty(at.node())) return true;
    at.warning("has no effect: {}", why);
    return true;
  });
}

/// Refuses the member `at`, which the format has and ocirun does not support, for the reason `why`.
/// With --ignore NAME only warns, and returns true. Returns true also if the report defers the
/// refusal (bundle::Report::defer_unsupported()).
bool refuse_known_name(Value at, std::string_view why);
/// Like refuse_known_name(), for a name that the document has as a value: of an isolator, a trait
/// or an extension. --ignore takes this `name`.
bool refuse_known(Value at, std::string_view name, std::string_view why);
/// Like refuse_known_name(), for the value `at`, which --ignore cannot leave out, because the
/// document would be wrong without it. `written`: where an export finds the value.
bool refuse_always(Value at, std::string_view why,
                   bundle::Report::Export written = bundle::Report::Export::kCopied);

/// A row for a member that refuse_known_name() refuses.
constexpr auto not_supported(std::string_view key, std::string_view why) {
  return bundle::refused_part(key, "", [why](Value at, auto&) {
    const bool is_choice = at.node().is_object();  // {} may be the one of several members
    return (is_empty(at.node()) && !is_choice) || refuse_known_name(at, why);
  });
}

/// A name that a format has and ocirun does not support. For lists of many such names
/// (Fields::beside()).
struct UnsupportedName {
  std::string_view name;
  std::string_view why;
  bool matters_always = false;  // also with the value false, "", {} or []
};
/// Refuses the member `at` if `names` has its name, but not if its value asks for nothing (null,
/// false, "", {}, []). Returns whether `names` has the name.
bool refuse_if_listed(Value at, std::span<const UnsupportedName> names);

/// Whether a member of an object `metadata` of Kubernetes is one that a cluster sets.
bool is_set_by_cluster(std::string_view name);

/// For Fields::beside() of an object `metadata` of Kubernetes. Warns of names that only a cluster
/// honours or sets, such as namespace and creationTimestamp. Returns whether the member is one.
bool warn_of_cluster_name(Value member);

/// What must be unique in a list: the member `member` of each item. `key`, a pointer to a member or
/// a function, gets its value from an item that was read.
template <typename Key>
struct By {
  std::string_view member;
  Key key;
};
template <typename Key>
constexpr By<Key> by(std::string_view member, Key key) {
  return {member, key};
}

/// Reports each item whose key is that of an earlier one. `items` were read from the list `at`, in
/// its order. Ignores empty names and the number 0, which a faulty item has.
template <typename Items, typename Key>
void report_twice(Value at, const Items& items, By<Key> unique) {
  using Name = std::remove_cvref_t<std::invoke_result_t<Key, decltype(items.front())>>;
  std::map<Name, std::size_t> first;
  std::size_t index = 0;
  for (const Value element : at) {
    const Name& name = std::invoke(unique.key, items[index]);
    const auto [same, is_new] = first.emplace(name, index++);
    if (is_new || name == Name{}) continue;
    element.problem_at(unique.member, "{} is given twice, first by item {}",
                       found(element.member(unique.member).value_or(element)), same->second);
  }
}

/// The names of the items of `at`: a list of objects with the member `key`, or an object of items.
class NamesOf {
 public:
  explicit NamesOf(std::optional<Value> at, std::string_view key = "name");
  /// Whether an item may be called `name`. Returns true also if `at` or a name in it is faulty: the
  /// faulty name may be the one that is searched, and its problem was reported already.
  bool may_have(std::string_view name) const { return is_faulty_ || names_.contains(name); }
  bool is_faulty() const { return is_faulty_; }

 private:
  std::set<std::string_view> names_;
  bool is_faulty_ = false;
};

/// The most containers in a list or an object of containers. There is a limit, because each
/// container gets a copy of values that the document has once for all.
inline constexpr std::size_t kMostContainers = 1000;
bool are_few_containers(Value at);

/// Additional groups of a program, no more than a process can have (setgroups(2)).
bool extra_groups(Value at, std::vector<Gid>& out);

/// A list of values for `reader`. Two items must not have the same key.
template <typename Reader, typename... Keys>
constexpr auto unique_list_of(Reader reader, By<Keys>... unique) {
  return [=](Value at, auto& out) {
    const std::size_t before = at.report().problem_count();
    list_of(reader)(at, out);
    if (at.node().is_array()) (report_twice(at, out, unique), ...);
    return at.report().problem_count() == before;
  };
}

/// Finds the number of an errno by its name in POSIX or Linux, such as "EPERM".
std::optional<int> find_errno(std::string_view name);

}  // namespace ocirun::pods
