#include "pods/documents/scalars.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "bundle/json/writer.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/images/reference.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

/// The number of a scalar; nothing for other values, and for infinity.
std::optional<double> to_double(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNatural:
      return static_cast<double>(node.number);
    case Node::Kind::kNegative:
      return static_cast<double>(static_cast<std::int64_t>(node.number));
    case Node::Kind::kOther: {
      double value = 0;
      std::string_view text = node.text;
      if (text.starts_with('+')) text.remove_prefix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
      return value;
    }
    default:
      return std::nullopt;
  }
}

/// `number` * `unit`, rounded up to a whole number; nothing if 63 bits cannot hold the product.
std::optional<std::uint64_t> multiply(double number, double unit) {
  const double product = std::ceil(number * unit);
  if (!(product >= 0) || product >= std::ldexp(1.0, 63)) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

/// The decimal number at the begin of `text`, which loses it. Accepts no sign and no exponent.
std::optional<double> take_decimal(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
  if (size == 0 || error != std::errc{} || end != text.data() + size) return std::nullopt;
  text.remove_prefix(size);
  return value;
}

/// The text of a string, or of a number as it is written.
std::optional<std::string> written(const Node& node) {
  if (node.is_string() || node.kind == Node::Kind::kOther) return std::string(node.text);
  if (node.kind == Node::Kind::kNatural) return fmt::format("{}", node.number);
  return std::nullopt;
}

constexpr linux::Named<Protocol> kProtocols[] = {{"TCP", Protocol::kTcp}, {"UDP", Protocol::kUdp}};

}  // namespace

bool string(Value at, std::string& out) {
  const Node& node = at.node();
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
  const Node& node = at.node();
  if (node.is_string() && node.plain) {
    std::string word(node.text);
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool yes = word == "y" || word == "yes" || word == "on";
    if (yes || word == "n" || word == "no" || word == "off") {
      out = yes;
      return true;
    }
  }
  return bundle::flag(at, out);
}

bool number_from(Value at, double least, double& out) {
  const auto value = to_double(at.node());
  if (value && *value >= least) {
    out = *value;
    return true;
  }
  at.problem("must be a number from {} on, not {}", least, found(at));
  return false;
}

bool cpu_count(Value at, double& out) {
  const auto value = to_double(at.node());
  if (value && *value > 0) {
    out = *value;
    return true;
  }
  at.problem("must be a number of CPUs above 0, such as 0.5, not {}", found(at));
  return false;
}

bool protocol(Value at, Protocol& out) {
  return bundle::word(
      "protocol", [](std::string_view word) { return linux::value_of(kProtocols, word); },
      [] { return linux::names_of(kProtocols); })(at, out);
}

bool oam_size(Value at, std::uint64_t& out) {
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto count = linux::number<std::uint64_t>(rest.substr(0, digits));
  rest.remove_prefix(digits);
  constexpr std::string_view kUnits = "KMGTP";
  int shift = 0;
  if (!rest.empty()) {
    const char letter = static_cast<char>(rest.front() & ~0x20);  // upper case
    if (const std::size_t unit = kUnits.find(letter); unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      rest.remove_prefix(1);
    }
  }
  if (rest == "B" || rest == "b") rest = {};
  if (!text || !count || *count == 0 || !rest.empty()) {
    at.problem("must be a whole number above 0 with or without a unit K, M, G, T or P, not {}",
               found(at));
    return false;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (*count > kMost >> shift) {
    at.problem("is {}, more than the {} bytes that Linux can count", found(at), kMost);
    return false;
  }
  out = *count << shift;
  return true;
}

bool kubernetes_cpus(Value at, double& out) {
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto count = take_decimal(rest);
  const bool thousandths = rest == "m";
  if (text && count && *count > 0 && (rest.empty() || thousandths)) {
    out = thousandths ? *count / 1000 : *count;
    return true;
  }
  at.problem("must be a number of CPUs above 0, such as 0.5 or \"500m\", not {}", found(at));
  return false;
}

bool kubernetes_bytes(Value at, std::uint64_t& out) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
      {"P", 1e15},    {"E", 1e18},    {"K", 1e3},     {"Ki", 0x1p10}, {"Mi", 0x1p20},
      {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
  };
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto count = take_decimal(rest);
  const auto* unit = std::ranges::find(kUnits, rest, &std::pair<std::string_view, double>::first);
  if (text && count && *count > 0 && unit != std::end(kUnits)) {
    if (const auto bytes = multiply(*count, unit->second)) {
      out = *bytes;
      return true;
    }
    at.problem("is {}, more than the {} bytes that Linux can count", found(at),
               std::numeric_limits<std::int64_t>::max());
    return false;
  }
  at.problem("must be a number of bytes above 0, such as \"128Mi\" or \"1G\", not {}", found(at));
  return false;
}

bool is_dns_label(std::string_view text) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
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
  return true;
}

bool path_below_root(Value at, std::string& out) {
  if (!container_path(at, out)) return false;
  if (out != "/") return true;
  at.problem("must be a path below the root directory, not {}", found(at));
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

bool string_map(Value at, std::map<std::string, std::string>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    if (member.key().empty()) {
      member.problem("the name is empty");
      good = false;
    }
    good &= string(member, out[std::string(member.key())]);
  }
  return good;
}

}  // namespace ocirun::pods
