#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/document.hpp"

namespace ocirun::bundle {

/// Whether `text` is valid UTF-8, so that a JSON string can hold it without loss.
bool is_utf8(std::string_view text);
/// Appends `text` as a JSON string. Every byte that is not part of valid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
/// `text` as a JSON string for a message, cut after 120 bytes.
std::string in_quotes(std::string_view text);
/// Prepares an untrusted text, such as a name in an archive, for a message: escapes control
/// characters, and cuts long texts.
std::string escaped(std::string_view text);

/// Lists untrusted texts for a message: sorted, each in quotes. "…" replaces all texts after the
/// first 20.
std::string in_list(std::vector<std::string> listed);

/// Writes a JSON document from front to back, and sets commas and indentation itself.
class JsonWriter {
 public:
  enum class Layout { kOneLine, kIndented };  // two spaces a level
  explicit JsonWriter(Layout layout) : layout_(layout) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return literal(flag ? "true" : "false"); }
  JsonWriter& null() { return literal("null"); }
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  JsonWriter& value(Number number) {
    return literal(fmt::format_int(number));
  }
  /// Writes 1234 as 12.34.
  JsonWriter& hundredths(std::uint64_t number) {
    return literal(fmt::format("{}.{:02}", number / 100, number % 100));
  }
  template <typename Item>
  JsonWriter& value(const std::vector<Item>& items) {
    begin_array();
    for (const Item& item : items) value(item);
    return end_array();
  }
  JsonWriter& value(const std::map<std::string, std::string>& members);
  /// Writes a parsed value with its number literals and the order of its members.
  JsonWriter& value(const Node& node);

  template <typename Value>
  JsonWriter& member(std::string_view name, const Value& content) {
    return key(name).value(content);
  }

  std::string take() && { return std::move(out_); }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& literal(std::string_view text);
  JsonWriter& literal(const fmt::format_int& number) {
    return literal(std::string_view(number.data(), number.size()));
  }
  void separate();  // the comma and line break in front of a value
  void break_line();

  Layout layout_;
  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // the innermost object or array is empty so far
  bool after_key_ = false;
};

}  // namespace ocirun::bundle
