#pragma once

// Dispatch tables that read a JSON object into a struct. A row holds the key of a JSON member, the
// struct's member for the value, and the reader of the value.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "bundle/json/reader.hpp"

namespace ocirun::bundle {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// kWritten, in records (record.hpp): optional when read, and always written.
enum class Presence : std::uint8_t { kOptional, kRequired, kWritten };

/// A row that reads the JSON member `key` into one member of the struct. A std::optional stays
/// empty if the key is absent or null.
template <Presence kPresence, typename Struct, typename Member, typename Reader>
struct Field {
  static constexpr Presence presence = kPresence;
  std::string_view key;
  Member Struct::* member;
  Reader reader;
  void read(Value at, Struct& out) const {
    if constexpr (kIsOptional<Member>)
      reader(at, (out.*member).emplace());
    else
      reader(at, out.*member);
  }
};
template <typename Struct, typename Member, typename Reader>
constexpr auto field(std::string_view key, Member Struct::* member, Reader reader) {
  return Field<Presence::kOptional, Struct, Member, Reader>{key, member, reader};
}
template <typename Struct, typename Member, typename Reader>
constexpr auto required(std::string_view key, Member Struct::* member, Reader reader) {
  return Field<Presence::kRequired, Struct, Member, Reader>{key, member, reader};
}
template <typename Struct, typename Member, typename Reader>
constexpr auto written(std::string_view key, Member Struct::* member, Reader reader) {
  return Field<Presence::kWritten, Struct, Member, Reader>{key, member, reader};
}
/// A row whose reader may write to any member of the struct.
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

/// A row for a name that the format no longer has, or that is refused for another reason; `reader`
/// reports the reason. Messages do not offer the name. If `successor`, which took its place, is a
/// required name, it does not count as missing: one mistake is one problem.
template <typename Reader>
struct RefusedPart {
  std::string_view key;
  std::string_view successor;  // "": nothing took its place
  Reader reader;
  static constexpr Presence presence = Presence::kOptional;
  void read(Value at, auto& out) const { reader(at, out); }
};
template <typename Reader>
constexpr auto refused_part(std::string_view key, std::string_view successor, Reader reader) {
  return RefusedPart<Reader>{key, successor, reader};
}

/// A row for a name that only means something on other platforms or in older editions of the
/// specification. The row accepts any value.
constexpr auto without_effect(std::string_view key) {
  return part(key, [](Value, auto&) { return true; });
}

/// The reaction of a table to an unknown name. kIgnored: ignores the name (D-4), with a warning if
/// Report::tells_unknown_names(). kRefused: reports a problem; for documents that ocirun writes,
/// and for workload documents. A required name that was likely meant does not count as missing.
enum class Unknown : std::uint8_t { kIgnored, kRefused };
/// A dispatch table, itself a reader (reader.hpp) of an object.
template <typename Struct, typename... Rows>
class Fields {
 public:
  /// A function that may handle a member whose name no row has. Returns whether it has handled the
  /// member: if so, the table neither refuses nor tells the name.
  using Besides = bool (*)(Value member);

  constexpr explicit Fields(Unknown unknown, Rows... rows) : rows_(rows...), unknown_(unknown) {}

  /// A copy of this table that asks `besides` about each name that no row has.
  constexpr Fields beside(Besides besides) const {
    Fields copy = *this;
    copy.besides_ = besides;
    return copy;
  }

  bool operator()(Value at, Struct& out) const {
    if (!at.expect_object()) return false;
    const std::size_t before = at.report().problem_count();
    std::uint64_t seen = 0;
    for (const Value member : at) {
      // D-6: a null member counts as absent. Its name must be known all the same, if any must.
      if (member.is_null() && (unknown_ == Unknown::kIgnored || has(member.key()))) continue;
      const bool known = std::apply(
          [&](const auto&... rows) {
            std::uint64_t bit = 1;
            return ((rows.key == member.key()
                         ? (rows.read(member, out), seen |= bit | successor_bit(rows), true)
                         : (bit <<= 1, false)) ||
                    ...);
          },
          rows_);
      if (known || (besides_ != nullptr && besides_(member))) continue;
      if (unknown_ == Unknown::kRefused) seen |= refuse_name(member, keys());
      if (at.report().tells_unknown_names()) unknown_name(member, keys());
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

  constexpr const std::tuple<Rows...>& rows() const { return rows_; }

 private:
  static_assert(sizeof...(Rows) <= 64);
  bool has(std::string_view key) const {
    return std::apply([&](const auto&... rows) { return ((rows.key == key) || ...); }, rows_);
  }
  /// The names for messages, by the index of the row; "" for a name that is not offered.
  std::array<std::string_view, sizeof...(Rows)> keys() const {
    return std::apply(
        [](const auto&... rows) {
          return std::array{has_successor(rows) ? std::string_view() : rows.key...};
        },
        rows_);
  }
  static constexpr bool has_successor(const auto& row) {
    return requires { row.successor; };
  }
  /// The bit of the row whose key is row.successor; 0 if `row` has no successor.
  std::uint64_t successor_bit(const auto& row) const {
    std::uint64_t found = 0;
    if constexpr (requires { row.successor; })
      std::apply(
          [&](const auto&... rows) {
            std::uint64_t bit = 1;
            ((found |= rows.key == row.successor ? bit : 0, bit <<= 1), ...);
          },
          rows_);
    return found;
  }

  std::tuple<Rows...> rows_;
  Unknown unknown_;
  Besides besides_ = nullptr;
};
template <typename Struct, typename... Rows>
constexpr auto fields(Rows... rows) {
  return Fields<Struct, Rows...>(Unknown::kIgnored, rows...);
}
template <typename Struct, typename... Rows>
constexpr auto exact_fields(Rows... rows) {
  return Fields<Struct, Rows...>(Unknown::kRefused, rows...);
}

/// A reader that also applies `rule`, a callable (Value, const T&) that reports problems. The rule
/// runs only if `reader` found no problem.
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
