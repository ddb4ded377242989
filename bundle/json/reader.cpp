#include "bundle/json/reader.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "bundle/json/report.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {

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

void unknown_name(Value at, std::span<const std::string_view> known) {
  const std::string_view near = nearest(at.key(), known);
  if (!near.empty()) return at.warning("unknown name, ignored (did you mean {}?)", near);
  at.warning("unknown name, ignored");
}

std::uint64_t refuse_name(Value at, std::span<const std::string_view> known) {
  const std::string_view near = nearest(at.key(), known);
  if (near.empty()) {
    std::vector<std::string_view> offered;
    std::ranges::copy_if(known, std::back_inserter(offered),
                         [](std::string_view name) { return !name.empty(); });
    at.problem("unknown name (known: {})", comma_list(offered));
    return 0;
  }
  at.problem("unknown name (did you mean {}?)", near);
  return std::uint64_t{1} << (std::ranges::find(known, near) - known.begin());
}

void unknown_word(Value at, std::string_view what, std::span<const std::string_view> known) {
  const std::string_view near = nearest(at.node().text, known);
  if (!near.empty()) return at.problem("unknown {} {} (did you mean {}?)", what, found(at), near);
  at.problem("unknown {} {} (known: {})", what, found(at), comma_list(known));
}

}  // namespace ocirun::bundle
