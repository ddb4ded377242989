#include "pods/documents/appc/types.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// Whether `text` is lower-case letters and digits, in parts that one of `separators` separates.
bool is_in_parts(std::string_view text, std::string_view separators) {
  bool after_separator = true;
  for (const char c : text) {
    const bool separator = separators.contains(c);
    if (separator && after_separator) return false;
    if (!separator && !linux::is_lower(c) && !linux::is_digit(c)) return false;
    after_separator = separator;
  }
  return !after_separator;
}

bool is_hash(std::string_view id, std::string_view prefix, std::size_t digits) {
  return id.starts_with(prefix) && id.size() == prefix.size() + digits &&
         id.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

struct Annotation {
  std::string name, value;
};

/// Annotations of rkt are instructions for rkt. The value "false" asks for nothing.
constexpr auto kAnnotation = bundle::checked(
    exact_fields<Annotation>(required("name", &Annotation::name, ac_identifier),
                             required("value", &Annotation::value, string)),
    [](Value at, const Annotation& annotation) {
      if (annotation.name.starts_with("coreos.com/rkt/") && annotation.value != "false")
        at.warning("instructs rkt, and has no effect here: \"{}\"", annotation.name);
    });

constexpr linux::Named<Protocol> kProtocols[] = {{"tcp", Protocol::kTcp}, {"udp", Protocol::kUdp}};

constexpr auto kPort = placed(exact_fields<Port>(
    required("name", &Port::name, ac_name), required("port", &Port::number, port_number),
    required("protocol", &Port::protocol,
             [](Value at, Protocol& out) {
               if (!at.node().is_string() || at.node().text != "sctp")
                 return word_of<kProtocols>("protocol")(at, out);
               at.problem(
                   "sctp is not supported, only tcp and udp are forwarded: leave out this port");
               return false;
             }),
    part("count",
         [](Value at, Port&) {
           std::uint16_t count = 1;
           if (!port_number(at, count)) return false;
           if (count == 1) return true;
           at.problem("must be 1, not {}: list each port by itself", count);
           return false;
         }),
    part("socketActivated", [](Value at, Port&) {
      bool activated = false;
      if (!boolean(at, activated)) return false;
      if (!activated) return true;
      at.problem("must be false: nothing passes sockets to an app");
      return false;
    })));

}  // namespace

bool ac_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_in_parts(out, "-")) return true;
  at.problem("must be an AC Name, lower-case letters and digits with \"-\" between them, not {}",
             found(at));
  return false;
}

bool ac_identifier(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_ac_identifier(out)) return true;
  at.problem(
      "must be an AC Identifier, lower-case letters and digits with \"-\", \".\", \"_\", \"~\" or "
      "\"/\" between them, not {}",
      found(at));
  return false;
}

bool is_ac_identifier(std::string_view text) { return is_in_parts(text, "-._~/"); }

bool ac_version(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto parts = linux::split(std::string_view(out).substr(0, out.find_first_of("+-")), '.');
  const bool numbers = parts.size() == 3 && std::ranges::all_of(parts, [](std::string_view part) {
                         return linux::number<std::uint32_t>(part).has_value();
                       });
  if (!numbers) {
    at.problem("must be a version such as \"0.8.11\", not {}", found(at));
    return false;
  }
  const std::uint64_t minor = linux::number(parts[1]).value_or(0);
  if (parts[0] == "1" || (parts[0] == "0" && minor >= 5 && minor <= 8)) return true;
  at.problem("must be a version from 0.5 to 0.8, or rkt's own such as \"1.30.0\", not {}",
             found(at));
  return false;
}

bool is_image_id(std::string_view id) {
  return is_hash(id, "sha512-", 128) || is_hash(id, "sha256-", 64);
}

bool is_rkt_image_id(std::string_view id) { return is_hash(id, "sha512-", 64); }

bool mode_text(Value at, mode_t& out) {
  std::string text;
  if (!string(at, text)) return false;
  const auto mode = linux::number<mode_t>(text, 8);
  if (mode && *mode <= 07777) {
    out = *mode;
    return true;
  }
  at.problem("must be octal digits up to 7777, such as \"0755\", not {}", found(at));
  return false;
}

bool dotted_quad(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto parts = linux::split(out, '.');
  const auto good = [](std::string_view part) {
    const auto number = linux::number<std::uint8_t>(part);
    return number && (part.size() == 1 || part.front() != '0');
  };
  if (parts.size() == 4 && std::ranges::all_of(parts, good)) return true;
  at.problem("must be an IPv4 address such as \"203.0.113.23\", not {}", found(at));
  return false;
}

bool ac_port(Value at, Port& out) { return kPort(at, out); }

bool ac_annotations(Value at, std::map<std::string, std::string>& out) {
  std::vector<Annotation> items;
  if (!list_of(kAnnotation)(at, items)) return false;
  report_twice(at, items, by("name", &Annotation::name));
  for (Annotation& item : items) out.emplace("appc." + item.name, std::move(item.value));
  return true;
}

}  // namespace ocirun::pods
