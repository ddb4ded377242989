#include "cgroups/systemd/property.hpp"

#include <charconv>
#include <optional>
#include <span>

#include "cgroups/hierarchies/text.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::string_view kProperty = "property";

bool is_plain(char c) {
  return linux::is_alphanumeric(c) || std::string_view("-_./:").find(c) != std::string_view::npos;
}

std::string encode(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (is_plain(c)) {
      plain += c;
    } else {
      plain += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
  return plain;
}

std::optional<std::string> decode(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i])) {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (text[i] != '%' || digits.size() != 2 || error != std::errc{} ||
        end != digits.data() + digits.size())
      return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

}  // namespace

std::string property_lines(const std::vector<UnitProperty>& properties) {
  std::string lines;
  for (const UnitProperty& property : properties) {
    lines +=
        fmt::format("{} {} {} {}", kProperty, property.since, property.name, property.signature);
    for (const std::string& value : property.values) lines += " =" + encode(value);
    lines += '\n';
  }
  return lines + std::string(kEndLine) + "\n";
}

Result<UnitProperty> parse_property_line(std::string_view line) {
  const auto fields = split(line, ' ');
  const auto since = fields.size() < 4 ? std::nullopt : number(fields[1]);
  if (!since || fields[0] != kProperty || fields[2].empty() || !contains(kSignatures, fields[3]))
    return refuse("\"{}\" is no property", line);
  UnitProperty property{.name = std::string(fields[2]),
                        .signature = std::string(fields[3]),
                        .values = {},
                        .since = static_cast<unsigned>(*since)};
  for (const std::string_view field : std::span(fields).subspan(4)) {
    auto value = field.starts_with('=') ? decode(field.substr(1)) : std::nullopt;
    if (!value) return refuse("\"{}\": \"{}\" is no value", line, field);
    property.values.push_back(*std::move(value));
  }
  return property;
}

}  // namespace ocirun::cgroups
