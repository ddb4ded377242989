#include "pods/documents/model/http_question.hpp"

#include <algorithm>
#include <set>

#include "linux/base/letters.hpp"

namespace ocirun::pods {
namespace {

bool is_token(char c) {  // RFC 9110, section 5.6.2
  return linux::is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token);
}

bool header_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (is_header_name(out)) return true;
  at.problem("is no name of an HTTP header: {}", found(at));
  return false;
}

bool header_value(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; };
  if (std::ranges::none_of(out, is_control)) return true;
  at.problem("contains a control character, which HTTP/1.1 does not allow: {}", found(at));
  return false;
}

constexpr auto kHeader =
    exact_fields<HttpHeader>(required("name", &HttpHeader::name, header_name),
                             required("value", &HttpHeader::value, header_value));

/// Names of HTTP headers have no case.
std::string in_lower_case(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = linux::lower(c);
  return text;
}

}  // namespace

bool http_path(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto is_bad = [](unsigned char c) { return c <= 0x20 || c == 0x7F || c == '#'; };
  if (std::ranges::any_of(out, is_bad)) {
    at.problem("contains a blank, a control character or \"#\", which no HTTP path has: {}",
               found(at));
    return false;
  }
  if (!out.starts_with('/')) out.insert(0, "/");
  return true;
}

bool http_headers(Value at, std::vector<HttpHeader>& out) {
  if (!list_of(kHeader)(at, out)) return false;
  std::vector<std::string> names;
  for (const HttpHeader& header : out) names.push_back(in_lower_case(header.name));
  report_twice(at, names, by("name", std::identity{}));
  return true;
}

bool named_http_headers(Value at, std::vector<HttpHeader>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  std::set<std::string> names;
  for (const Value member : at) {
    HttpHeader& header = out.emplace_back();
    header.name = member.key();
    good &= header_value(member, header.value);
    const bool is_name = is_header_name(member.key());
    const bool is_new = names.insert(in_lower_case(member.key())).second;
    if (!is_name) member.problem("{:?} is no name of an HTTP header", member.key());
    if (!is_new) member.problem("is another header's name too: names of headers have no case");
    good &= is_name && is_new;
  }
  return good;
}

}  // namespace ocirun::pods
