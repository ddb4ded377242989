#include "cgroups/systemd/annotations.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "cgroups/hierarchies/text.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::cgroups {
namespace {

using linux::is_digit;
using linux::is_letter;

/// An integer type of D-Bus: GVariant's keyword, the type letter, and the range.
struct Whole {
  std::string_view word, type;
  std::int64_t least;
  std::uint64_t most;
};
constexpr Whole kWholes[] = {
    {"byte", "y", 0, 0xff},
    {"int16", "n", std::numeric_limits<std::int16_t>::min(), 0x7fff},
    {"uint16", "q", 0, 0xffff},
    {"int32", "i", std::numeric_limits<std::int32_t>::min(), 0x7fffffff},
    {"uint32", "u", 0, 0xffffffff},
    {"int64", "x", std::numeric_limits<std::int64_t>::min(), 0x7fffffffffffffff},
    {"uint64", "t", 0, 0xffffffffffffffff},
};

template <typename Number>
bool is_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

bool fits(std::string_view text, const Whole& whole) {
  std::int64_t small = 0;
  std::uint64_t large = 0;
  if (text.starts_with('-')) return is_number(text, small) && small >= whole.least;
  return is_number(text, large) && large <= whole.most;
}

/// Parses a text that consists of one GVariant value.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool read(UnitProperty& property) {
    std::string forced;
    if (skip('@')) {  // "@as []": the type of an empty array
      forced = take(is_letter);
      if (!contains(kSignatures, forced) || forced.size() > 2) return false;
    }
    skip_blanks();
    const bool good = rest_.starts_with('[') ? read_array(property) : read_scalar(property);
    skip_blanks();
    if (!good || !rest_.empty()) return false;
    if (forced.empty()) return !property.signature.empty();
    if (property.values.empty()) property.signature = forced;
    return property.signature == forced;
  }

 private:
  bool read_array(UnitProperty& array) {
    std::string type;
    skip('[');
    skip_blanks();
    while (!skip(']')) {
      if (!array.values.empty() && !skip(',')) return false;
      UnitProperty element;
      skip_blanks();
      if (!read_scalar(element, type)) return false;
      skip_blanks();
      type = element.signature;
      array.values.push_back(std::move(element.values.front()));
    }
    if (type.empty()) return true;  // an empty array: read() demands a type, as in "@as []"
    array.signature = "a" + type;
    return contains(kSignatures, array.signature);
  }

  /// `type` is the type of the array's earlier elements. In "[uint32 1, 2]", 2 is a uint32 too.
  bool read_scalar(UnitProperty& scalar, std::string_view type = {}) {
    const std::string word = is_letter(rest_.empty() ? '\0' : rest_.front())
                                 ? take([](char c) { return is_letter(c) || is_digit(c); })
                                 : std::string();
    skip_blanks();
    bool good = false;
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      scalar.signature = "s";
      good = (word.empty() || word == "string") && read_quoted(scalar);
    } else if (word == "true" || word == "false" || word == "boolean") {
      scalar.signature = "b";
      scalar.values.push_back(word == "boolean" ? take(is_letter) : word);
      good = scalar.values.front() == "true" || scalar.values.front() == "false";
    } else {
      good = read_number(scalar, word, type);
    }
    return good && (type.empty() || scalar.signature == type);
  }

  bool read_number(UnitProperty& scalar, std::string_view word, std::string_view type) {
    std::string digits = take([](char c) { return is_digit(c) || c == '-' || c == '.'; });
    const auto named = std::ranges::find(kWholes, word, &Whole::word);
    const bool whole = digits.find('.') == std::string::npos;
    if (named != std::end(kWholes))
      type = named->type;
    else if (word == "double")
      type = "d";
    else if (!word.empty())
      return false;
    else if (type.empty())
      type = whole ? "i" : "d";
    scalar.signature = type;
    double ignored = 0;
    const auto row = std::ranges::find(kWholes, type, &Whole::type);
    const bool good =
        type == "d" ? is_number(digits, ignored) : row != std::end(kWholes) && fits(digits, *row);
    scalar.values.push_back(std::move(digits));
    return good;
  }

  bool read_quoted(UnitProperty& scalar) {
    const char quote = rest_.front();
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        scalar.values.push_back(std::move(text));
        return true;
      }
      if (rest_[i] == '\\') ++i;
      if (i == rest_.size() || rest_[i] == '\0') return false;
      text += rest_[i];
    }
    return false;
  }

  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (skip(' ')) {
    }
  }
  template <typename Wanted>
  std::string take(Wanted wanted) {
    std::size_t size = 0;
    while (size < rest_.size() && wanted(rest_[size])) ++size;
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

/// Converts a property "…Sec" in seconds to the D-Bus property "…USec" in microseconds. The seconds
/// may have a fraction.
bool rename_seconds(UnitProperty& property) {
  constexpr double kMicroseconds = 1e6, kLongest = 1e12;
  double seconds = 0;
  if (property.values.size() != 1 || property.signature.size() != 1 ||
      std::string_view("ynqiuxtd").find(property.signature) == std::string_view::npos ||
      !is_number(property.values.front(), seconds) || !(seconds >= 0) || seconds > kLongest)
    return false;
  property.name.replace(property.name.size() - 3, 3, "USec");
  property.signature = "t";
  const double exact = seconds * kMicroseconds;
  auto whole = static_cast<std::uint64_t>(exact);
  if (exact - static_cast<double>(whole) >= 0.5) ++whole;
  property.values.front() = fmt::to_string(whole);
  return true;
}

// Engines copy annotations from images. An image must not act on other units, on the host, or on
// device rules.
bool reaches_beyond_the_unit(std::string_view name) {
  constexpr std::string_view kBarred[] = {"BPFProgram",
                                          "BindsTo",
                                          "Conflicts",
                                          "DeviceAllow",
                                          "DevicePolicy",
                                          "Group",
                                          "InSlice",
                                          "OnFailure",
                                          "OnSuccess",
                                          "PropagatesReloadTo",
                                          "PropagatesStopTo",
                                          "Requires",
                                          "Requisite",
                                          "Triggers",
                                          "Upholds",
                                          "User",
                                          "Wants",
                                          "IPEgressFilterPath",
                                          "IPIngressFilterPath"};
  // systemd accepts the old name RequiresOverridable for Requires. "By" and "Of" are the other ends
  // of dependencies: WantedBy, PartOf.
  constexpr std::string_view kBarredEnds[] = {"Action", "By", "MountsFor", "Of", "Overridable"};
  return contains(kBarred, name) || std::ranges::any_of(kBarredEnds, [name](std::string_view end) {
           return name.ends_with(end);
         });
}

Result<void> check_name(const std::string& name) {
  constexpr std::string_view kOurs[] = {"PIDs", "Slice", "Delegate"};
  if (name.size() < 3 || !is_letter(name.front()) ||
      !std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }))
    return refuse(
        "\"{}\" is no property's name: a name has letters and digits, as in \"MemoryHigh\"", name);
  if (contains(kOurs, name))
    return refuse("ocirun sets {} itself{}", name,
                  name == "Slice" ? ": name the slice in /linux/cgroupsPath" : "");
  if (reaches_beyond_the_unit(name))
    return refuse(
        "{} acts on other units, on the host or on device rules: an annotation must not set it",
        name);
  return {};
}

Result<UnitProperty> read_value(const std::string& name, std::string_view value) {
  UnitProperty property{.name = name, .signature = {}, .values = {}, .since = 0};
  if (!Reader(value).read(property))
    return refuse(
        "\"{}\" is no value of a property (examples: true, 'text', 12, 1.5, uint64 12, ['a', 'b'])",
        value);
  if (name.ends_with("Sec") && !name.ends_with("USec") && !rename_seconds(property))
    return refuse("\"{}\" is no time: give a number of seconds, as in \"uint64 90\"", value);
  return property;
}

}  // namespace

Result<AnnotatedProperties> annotated_properties(
    const std::map<std::string, std::string>& annotations) {
  AnnotatedProperties read;
  for (const auto& [key, value] : annotations) {
    if (!key.starts_with(kPropertyAnnotation) || value.empty()) continue;
    const std::string name = key.substr(kPropertyAnnotation.size());
    OCIRUN_TRY(within(check_name(name), "/annotations/" + key));
    auto property = read_value(name, value);
    if (property)
      read.properties.push_back(*std::move(property));
    else
      read.left_out.push_back(
          fmt::format("/annotations/{}: has no effect: {}", key, property.error().message()));
  }
  return read;
}

}  // namespace ocirun::cgroups
