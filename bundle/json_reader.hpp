#pragma once

// Checked access to a parsed document: dispatch tables whose rows are a key, a member and a reader
// with its bounds. A reader that finds something wrong says so in the Report and reading goes on.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bundle/json_document.hpp"
#include "bundle/report.hpp"
#include "linux/ids.hpp"

namespace ocirun::bundle {

/// A value of the document and the report that complaints about it go to.
class Value {
 public:
  Value(const Node& node, Report& report) : node_(&node), report_(&report) {}

  const Node& node() const { return *node_; }
  Report& report() const { return *report_; }
  std::string_view key() const { return node_->key; }
  bool is_null() const { return node_->kind == Node::Kind::kNull; }
  /// The member `name`, unless it is absent or null.
  std::optional<Value> member(std::string_view name) const;

  template <typename... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) const {
    complain("", format, fmt::make_format_args(args...));
  }
  /// About the member `name` of this object, which may be absent.
  template <typename... Args>
  void problem_at(std::string_view name, fmt::format_string<Args...> format, Args&&... args) const {
    complain(name, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    warn(format, fmt::make_format_args(args...));
  }

  /// Each reports a problem when the value is of another type.
  bool expect_object() const { return expect(Node::Kind::kObject, "an object"); }
  bool expect_list() const { return expect(Node::Kind::kArray, "a list"); }
  bool expect_string() const { return expect(Node::Kind::kString, "a string"); }
  bool expect_boolean() const { return expect(Node::Kind::kBoolean, "true or false"); }

  /// Members of an object or elements of a list, in the document's order.
  class Iterator {
   public:
    Iterator(const Node* node, Report* report) : node_(node), report_(report) {}
    Value operator*() const { return {*node_, *report_}; }
    Iterator& operator++() {
      node_ = node_->next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return node_ == other.node_; }

   private:
    const Node* node_;
    Report* report_;
  };
  Iterator begin() const { return {node_->first, report_}; }
  Iterator end() const { return {nullptr, report_}; }

 private:
  bool expect(Node::Kind kind, std::string_view wanted) const;
  void complain(std::string_view name, fmt::string_view format, fmt::format_args args) const;
  void warn(fmt::string_view format, fmt::format_args args) const;

  const Node* node_;
  Report* report_;
};

/// The frames of an error of the lower floors, as part of a problem: without the errno's text.
std::string reason(const Error& error);

/// What a message says was found: `"abc"`, `12`, `true`, `a list`.
std::string found(const Value& at);

// Readers: callables (Value, T&) -> bool; false when a problem was reported.

bool flag(Value at, bool& out);
/// Any string without NUL: a path, argument or option would end there for the kernel (D-8).
bool text(Value at, std::string& out);
bool nonempty_text(Value at, std::string& out);
/// "NAME=value" with a name (P-5).
bool environment_entry(Value at, std::string& out);
/// An absolute path, for std::string, HostPath, RootfsPath.
inline constexpr auto absolute_path = [](Value at, auto& out) {
  std::string path;
  if (!nonempty_text(at, path)) return false;
  if (!path.starts_with('/')) {
    at.problem("must be an absolute path, not {}", found(at));
    return false;
  }
  out = std::remove_reference_t<decltype(out)>(std::move(path));
  return true;
};

/// An integer literal between the bounds; nothing, and a problem, for everything else (D-7).
std::optional<std::int64_t> signed_number(Value at, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> unsigned_number(Value at, std::uint64_t least, std::uint64_t most);

/// A whole number from `least` to `most`, both included; by default all that the member can hold.
struct Range {
  std::int64_t least;
  std::uint64_t most;
  template <std::integral T>
  bool operator()(Value at, T& out) const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_signed_v<T>) {
      const auto top = static_cast<std::uint64_t>(Limits::max());
      const auto number = signed_number(at, std::max<std::int64_t>(least, Limits::min()),
                                        static_cast<std::int64_t>(most < top ? most : top));
      if (number) out = static_cast<T>(*number);
      return number.has_value();
    } else {
      const auto number = unsigned_number(at, least < 0 ? 0 : static_cast<std::uint64_t>(least),
                                          std::min<std::uint64_t>(most, Limits::max()));
      if (number) out = static_cast<T>(*number);
      return number.has_value();
    }
  }
};
constexpr Range range(std::int64_t least, std::uint64_t most) { return {least, most}; }
inline constexpr Range whole_number = {std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::uint64_t>::max()};
/// Bytes, or -1 for no limit.
inline constexpr Range bytes_or_unlimited = {-1, std::numeric_limits<std::int64_t>::max()};

/// A user or group id: 2^32-1 cannot be one (P-19).
template <typename Tag>
bool id(Value at, Id<Tag>& out) {
  const auto value = unsigned_number(at, 0, Id<Tag>::kUnchanged - 1);
  if (value) out = *Id<Tag>::make(*value);
  return value.has_value();
}
bool uid(Value at, Uid& out);
bool gid(Value at, Gid& out);

/// A list; elements that are wrong keep their place, so that indices stay those of the document.
template <typename Reader>
constexpr auto list_of(Reader reader) {
  return [reader](Value at, auto& out) {
    if (!at.expect_list()) return false;
    bool good = true;
    for (const Value item : at) good &= reader(item, out.emplace_back());
    return good;
  };
}
inline constexpr auto texts = list_of(text);

/// The sentence for a word that is none of `known`: `unknown action "X" (did you mean Y?)`, or the
/// whole list when nothing is near.
void unknown_word(Value at, std::string_view what, std::span<const std::string_view> known);
/// The member of `known` that is few typing mistakes away from `word`; "" when none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// A word of an enumeration: `lookup` turns it into the value, `names` lists the allowed ones.
template <typename Lookup, typename Names>
constexpr auto word(std::string_view what, Lookup lookup, Names names) {
  return [=](Value at, auto& out) {
    std::string name;
    if (!text(at, name)) return false;
    if (const auto value = lookup(name)) {
      out = static_cast<std::remove_reference_t<decltype(out)>>(*value);
      return true;
    }
    unknown_word(at, what, names());
    return false;
  };
}
/// A list of words that are or-ed together.
template <typename Reader>
constexpr auto flags_of(Reader reader) {
  return [reader](Value at, auto& out) {
    if (!at.expect_list()) return false;
    bool good = true;
    for (const Value item : at) {
      std::remove_reference_t<decltype(out)> bit{};
      good &= reader(item, bit);
      out |= bit;
    }
    return good;
  };
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

enum class Presence : std::uint8_t { kOptional, kRequired };

/// One row: the member `key` is read into a member of the struct. std::optional members stay empty
/// when the key is absent or null.
template <typename Struct, typename Member, typename Reader>
struct Field {
  std::string_view key;
  Member Struct::* member;
  Reader reader;
  Presence presence;
  void read(Value at, Struct& out) const {
    if constexpr (kIsOptional<Member>)
      reader(at, (out.*member).emplace());
    else
      reader(at, out.*member);
  }
};
template <typename Struct, typename Member, typename Reader>
constexpr auto field(std::string_view key, Member Struct::* member, Reader reader) {
  return Field<Struct, Member, Reader>{key, member, reader, Presence::kOptional};
}
template <typename Struct, typename Member, typename Reader>
constexpr auto required(std::string_view key, Member Struct::* member, Reader reader) {
  return Field<Struct, Member, Reader>{key, member, reader, Presence::kRequired};
}
/// A row whose reader gets the whole struct.
template <typename Reader>
struct Part {
  std::string_view key;
  Reader reader;
  Presence presence;
  void read(Value at, auto& out) const { reader(at, out); }
};
template <typename Reader>
constexpr auto part(std::string_view key, Reader reader) {
  return Part<Reader>{key, reader, Presence::kOptional};
}
template <typename Reader>
constexpr auto required_part(std::string_view key, Reader reader) {
  return Part<Reader>{key, reader, Presence::kRequired};
}

/// A dispatch table; as a reader it reads an object. Unknown names are passed over (D-4), or
/// refused in documents of our own.
enum class Unknown : std::uint8_t { kIgnored, kRefused };
template <typename Struct, typename... Rows>
class Fields {
 public:
  constexpr explicit Fields(Unknown unknown, Rows... rows) : rows_(rows...), unknown_(unknown) {}

  bool operator()(Value at, Struct& out) const {
    if (!at.expect_object()) return false;
    const std::size_t before = at.report().problem_count();
    std::uint64_t seen = 0;
    for (const Value member : at) {
      if (member.is_null()) continue;  // D-6
      const bool known = std::apply(
          [&](const auto&... rows) {
            std::uint64_t bit = 1;
            return ((rows.key == member.key() ? (rows.read(member, out), seen |= bit, true)
                                              : (bit <<= 1, false)) ||
                    ...);
          },
          rows_);
      if (!known && unknown_ == Unknown::kRefused) member.problem("is not a known member");
    }
    std::apply(
        [&](const auto&... rows) {
          std::uint64_t bit = 1;
          ((rows.presence == Presence::kRequired && (seen & bit) == 0
                ? at.problem_at(rows.key, "is missing, it is required")
                : void(),
            bit <<= 1),
           ...);
        },
        rows_);
    return at.report().problem_count() == before;
  }

 private:
  static_assert(sizeof...(Rows) <= 64);
  std::tuple<Rows...> rows_;
  Unknown unknown_;
};
template <typename Struct, typename... Rows>
constexpr auto fields(Rows... rows) {
  return Fields<Struct, Rows...>(Unknown::kIgnored, rows...);
}
template <typename Struct, typename... Rows>
constexpr auto exact_fields(Rows... rows) {
  return Fields<Struct, Rows...>(Unknown::kRefused, rows...);
}

/// A reader and a rule over what it read: (Value, const T&), run when every member was right.
template <typename Reader, typename Rule>
constexpr auto checked(Reader reader, Rule rule) {
  return [=](Value at, auto& out) {
    if (!reader(at, out)) return false;
    const std::size_t before = at.report().problem_count();
    rule(at, out);
    return at.report().problem_count() == before;
  };
}

}  // namespace ocirun::bundle
