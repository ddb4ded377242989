#include "bundle/json/writer.hpp"

#include <fmt/ranges.h>
#include <algorithm>

namespace ocirun::bundle {
namespace {

/// The length of the well-formed UTF-8 sequence at the front of `text`; 0 if there is none (Unicode
/// 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return continues(1) ? 2 : 0;
  const unsigned second = byte(1);
  if (lead < 0xF0) {
    const bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F);
    return !bad && continues(1) && continues(2) ? 3 : 0;
  }
  const bool bad = (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return !bad && continues(1) && continues(2) && continues(3) ? 4 : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\u00").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 15U]);
  }
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F &&
         c != '"' && c != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      append_escaped(out, text[0]);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  std::string out;
  append_json_string(out, text.substr(0, kLongest));
  if (text.size() > kLongest) out += fmt::format("... ({} bytes)", text.size());
  return out;
}

std::string escaped(std::string_view text) {
  const std::string quoted = in_quotes(text);
  return quoted.ends_with('"') ? quoted.substr(1, quoted.size() - 2) : quoted.substr(1);
}

std::string in_list(std::vector<std::string> listed) {
  constexpr std::size_t kMostShown = 20;
  std::ranges::sort(listed);
  const bool is_cut = listed.size() > kMostShown;
  if (is_cut) listed.resize(kMostShown);
  for (std::string& text : listed) text = in_quotes(text);
  return fmt::format("{}{}", fmt::join(listed, ", "), is_cut ? ", …" : "");
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  --depth_;
  if (!first_) break_line();
  out_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += layout_ == Layout::kIndented ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(const std::map<std::string, std::string>& members) {
  begin_object();
  for (const auto& [name, content] : members) key(name).value(std::string_view(content));
  return end_object();
}

JsonWriter& JsonWriter::value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return literal("null");
    case Node::Kind::kBoolean:
      return value(node.boolean);
    case Node::Kind::kNegative:
      return value(static_cast<std::int64_t>(node.number));
    case Node::Kind::kNatural:
      return value(node.number);
    case Node::Kind::kOther:
      return literal(node.text);
    case Node::Kind::kString:
      return value(node.text);
    case Node::Kind::kArray:
      begin_array();
      for (const Node* item = node.first; item != nullptr; item = item->next) value(*item);
      return end_array();
    case Node::Kind::kObject:
      begin_object();
      for (const Node* item = node.first; item != nullptr; item = item->next)
        key(item->key).value(*item);
      return end_object();
  }
  return *this;
}

JsonWriter& JsonWriter::literal(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ += ',';
  break_line();
  first_ = false;
}

void JsonWriter::break_line() {
  if (layout_ != Layout::kIndented) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

}  // namespace ocirun::bundle
