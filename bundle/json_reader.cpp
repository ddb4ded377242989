#include "bundle/json_reader.hpp"

#include <algorithm>
#include <array>

#include "bundle/json_writer.hpp"

namespace ocirun::bundle {
namespace {

/// Typing mistakes between two words: insertions, deletions, replacements, and two letters swapped
/// (optimal string alignment). Words longer than the table are never near.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 48;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<std::array<std::size_t, kLongest + 1>, 3> rows{};  // of i-2, i-1 and i, by i mod 3
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], rows[(i + 1) % 3][j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::string upper(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

bool flag(Value at, bool& out) {
  if (!at.expect_boolean()) return false;
  out = at.node().boolean;
  return true;
}

bool text(Value at, std::string& out) {
  if (!at.expect_string()) return false;
  if (at.node().text.find('\0') != std::string_view::npos) {
    at.problem("contains NUL: {}", found(at));
    return false;
  }
  out = at.node().text;
  return true;
}

bool nonempty_text(Value at, std::string& out) {
  if (!text(at, out)) return false;
  if (out.empty()) at.problem("must not be empty");
  return !out.empty();
}

bool environment_entry(Value at, std::string& out) {
  if (!text(at, out)) return false;
  const std::size_t equals = out.find('=');
  if (equals != std::string::npos && equals != 0) return true;
  at.problem("must have the form NAME=value, not {}", found(at));
  return false;
}

std::optional<std::int64_t> signed_number(Value at, std::int64_t least, std::int64_t most) {
  const Node& node = at.node();
  const bool fits =
      node.kind == Node::Kind::kNegative ||
      (node.kind == Node::Kind::kNatural &&
       node.number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto value = static_cast<std::int64_t>(node.number);
  if (fits && value >= least && value <= most) return value;
  at.problem("must be a whole number from {} to {}, not {}", least, most, found(at));
  return {};
}

std::optional<std::uint64_t> unsigned_number(Value at, std::uint64_t least, std::uint64_t most) {
  const Node& node = at.node();
  if (node.kind == Node::Kind::kNatural && node.number >= least && node.number <= most)
    return node.number;
  at.problem("must be a whole number from {} to {}, not {}", least, most, found(at));
  return {};
}

bool number_set(Value at, linux::NumberSet& out) {
  std::string list;
  if (!text(at, list)) return false;
  auto set = linux::NumberSet::parse(list);
  if (!set) {
    at.problem("{}", reason(set.error()));
    return false;
  }
  out = *std::move(set);
  return true;
}

bool uid(Value at, Uid& out) { return id(at, out); }
bool gid(Value at, Gid& out) { return id(at, out); }

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::string typed = upper(word);  // a wrong case alone is no distance
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 4) + 1;  // more would be a guess
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(typed, upper(candidate));
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

void unknown_name(Value at, std::span<const std::string_view> known) {
  const std::string_view near = nearest(at.key(), known);
  if (!near.empty()) return at.warning("unknown name, ignored (did you mean {}?)", near);
  at.warning("unknown name, ignored");
}

void unknown_word(Value at, std::string_view what, std::span<const std::string_view> known) {
  const std::string_view near = nearest(at.node().text, known);
  if (!near.empty()) return at.problem("unknown {} {} (did you mean {}?)", what, found(at), near);
  at.problem("unknown {} {} (known: {})", what, found(at), comma_list(known));
}

}  // namespace ocirun::bundle
