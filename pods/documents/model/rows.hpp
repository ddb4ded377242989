#pragma once

// The rows of the tables that read documents: for the members of an object, also for those that
// templates leave empty.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "bundle/json/fields.hpp"

namespace ocirun::pods {

// The vocabulary of all readers (bundle/json/fields.hpp).
using bundle::exact_fields;
using bundle::field;
using bundle::found;
using bundle::list_of;
using bundle::part;
using bundle::required;
using bundle::required_part;
using bundle::Value;
using bundle::word_of;

/// A text, or a word of an enumeration.
template <typename Member>
inline constexpr bool kIsText = std::same_as<Member, std::string> || std::is_enum_v<Member>;
template <typename Member>
inline constexpr bool kIsText<std::optional<Member>> = kIsText<Member>;
template <typename Member>
inline constexpr bool kIsList = requires(Member list) { list.pop_back(); } && !kIsText<Member>;
template <typename Member>
inline constexpr bool kIsList<std::optional<Member>> = kIsList<Member>;
template <typename Member>
concept MayBeEmpty = kIsText<Member> || kIsList<Member>;

/// Whether `node` is "" in the place of a text, or [] in the place of a list. Both are as if the
/// member were absent, as in the API of Kubernetes: templates write them for values that nobody
/// gave.
template <typename Member>
bool is_empty_for(const bundle::Node& node) {
  return (kIsText<Member> && node.is_string() && node.text.empty()) ||
         (kIsList<Member> && node.is_array() && node.first == nullptr);
}

/// A row whose reader never sees an empty value of a Member.
template <typename Member, typename Row>
struct UnlessEmpty {
  std::string_view key;
  Row row;
  static constexpr bundle::Presence presence = bundle::Presence::kOptional;
  void read(Value at, auto& out) const {
    if (!is_empty_for<Member>(at.node())) row.read(at, out);
  }
};
/// field() for a member of a document that may be empty: of the two templates, the compiler takes
/// the one with the constraint. bundle::field() makes a row for which "" or [] mean something.
template <typename Struct, MayBeEmpty Member, typename Reader>
constexpr auto field(std::string_view key, Member Struct::* member, Reader reader) {
  const auto row = bundle::field(key, member, reader);
  return UnlessEmpty<Member, std::remove_const_t<decltype(row)>>{key, row};
}
/// part() for a member that may be empty.
template <MayBeEmpty Member, typename Reader>
constexpr auto part_unless_empty(std::string_view key, Reader reader) {
  const auto row = part(key, reader);
  return UnlessEmpty<Member, std::remove_const_t<decltype(row)>>{key, row};
}

/// Whether `node` is "", [] or {}.
inline bool is_empty(const bundle::Node& node) {
  if (node.is_string()) return node.text.empty();
  return (node.is_object() || node.is_array()) && node.first == nullptr;
}

}  // namespace ocirun::pods
