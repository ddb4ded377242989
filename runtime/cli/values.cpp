#include "runtime/cli/values.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "bundle/json/document.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime::cli {
namespace {

using linux::is_digit;

struct Decimal {
  std::int64_t whole = 0;
  std::int64_t fraction = 0, scale = 1;  // fraction / scale

  /// This number times `unit`. Nothing if the product has more than 64 bits.
  std::optional<std::int64_t> times(std::int64_t unit) const {
    std::int64_t product = 0, rest = 0, sum = 0;
    if (__builtin_mul_overflow(whole, unit, &product)) return std::nullopt;
    if (__builtin_mul_overflow(fraction, unit, &rest)) return std::nullopt;
    if (__builtin_add_overflow(product, rest / scale, &sum)) return std::nullopt;
    return sum;
  }
};

/// Takes "12" or "12.5" off the front of `text`.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal decimal;
  const char* const end = text.data() + text.size();
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto whole = std::from_chars(text.data(), end, decimal.whole);
  if (whole.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(whole.ptr - text.data()));
  if (text.size() < 2 || text[0] != '.' || !is_digit(text[1])) return decimal;
  text.remove_prefix(1);
  for (int digits = 0; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (++digits > 3) continue;  // further digits are ignored
    decimal.fraction = decimal.fraction * 10 + (text.front() - '0');
    decimal.scale *= 10;
  }
  return decimal;
}

}  // namespace

Result<std::int64_t> parse_size(std::string_view text) {
  const std::string_view given = text;
  if (text == "-1") return -1;
  const auto decimal = take_decimal(text);
  constexpr std::string_view kUnits = "bkmgtp";
  std::int64_t unit = 1;
  bool good = decimal.has_value();
  if (good && !text.empty()) {
    std::string rest(text.substr(std::min(text.find_first_not_of(' '), text.size())));
    for (char& c : rest) c = linux::lower(c);
    const std::size_t power = rest.empty() ? std::string_view::npos : kUnits.find(rest[0]);
    good =
        power != std::string_view::npos &&
        (rest.size() == 1 ||
         (power > 0 && (rest.substr(1) == "b" || rest.substr(1) == "i" || rest.substr(1) == "ib")));
    for (std::size_t i = 0; good && i < power; ++i) unit *= 1024;
  }
  const auto bytes = good ? decimal->times(unit) : std::nullopt;
  if (!bytes)
    return refuse(
        "\"{}\" is no size: give bytes, or a number with k, m, g, t or p, such as 512k, 64m, 64Mi, "
        "64MiB or 1.5g; -1 is unlimited",
        given);
  return *bytes;
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  constexpr Unit kUnits[] = {{"ns", 1},
                             {"us", 1'000},
                             {"ms", 1'000'000},
                             {"s", 1'000'000'000},
                             {"m", 60'000'000'000},
                             {"h", 3'600'000'000'000}};
  constexpr std::int64_t kYear = 366LL * 24 * 3'600'000'000'000;
  const std::string_view given = text;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto decimal = take_decimal(text);
    const std::string_view name = text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if(text, is_digit) - text.begin()));
    const auto unit = std::ranges::find(kUnits, name, &Unit::name);
    const auto part =
        decimal && unit != std::end(kUnits) ? decimal->times(unit->nanoseconds) : std::nullopt;
    if (!part || __builtin_add_overflow(sum, *part, &sum)) {
      sum = 0;
      break;
    }
    text.remove_prefix(name.size());
  }
  if (sum <= 0 || sum > kYear)
    return refuse("\"{}\" is no duration above zero, such as 5s, 100ms or 1m30s", given);
  return std::chrono::nanoseconds(sum);
}

std::optional<int> named_descriptor(const std::string& file) {
  if (file == "-" || file == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!file.starts_with(directory)) continue;
    const auto descriptor = linux::number<int>(std::string_view(file).substr(directory.size()));
    if (descriptor && *descriptor >= 0) return descriptor;
  }
  return std::nullopt;
}

namespace {

Result<std::string> read_whole(const std::string& file) {
  // Reads descriptor N instead of opening /dev/fd/N: a process that is not dumpable may be unable
  // to open files in /proc/self/fd.
  if (const auto descriptor = named_descriptor(file))
    return within(linux::sys::read_all(Fd{*descriptor}, bundle::Document::kMaxSize), file);
  OCIRUN_TRY_ASSIGN(const UniqueFd opened,
                    linux::sys::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return within(linux::sys::read_all(opened, bundle::Document::kMaxSize), file);
}

}  // namespace

Result<std::string> read_document(const std::string& file) {
  OCIRUN_TRY_ASSIGN(std::string text, read_whole(file));
  if (text.empty()) return refuse("{} is empty", file == "-" ? "standard input" : file);
  return text;
}

}  // namespace ocirun::runtime::cli
