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

/// Whether all of `text` can be written and read again as a JSON string.
bool is_utf8(std::string_view text);
/// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
/// A value in a message: a JSON string, cut to a length that one can read.
std::string in_quotes(std::string_view text);

/// Writes a JSON document from front to back; commas and indentation come by themselves.
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
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  JsonWriter& value(Number number) {
    return literal(fmt::format_int(number));
  }
  /// 1234 as 12.34.
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
  /// A parsed value as it was written.
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
  bool first_ = true;  // nothing stands in the innermost container yet
  bool after_key_ = false;
};

}  // namespace ocirun::bundle
