#include "bundle/config/oci_version.hpp"

#include <algorithm>
#include <charconv>

#include "linux/base/letters.hpp"

namespace ocirun::bundle {
namespace {

using linux::is_digit;

bool is_identifier_letter(char c) { return linux::is_alphanumeric(c) || c == '-'; }

/// Takes a number without leading zeros off the front of `text`.
bool take_number(std::string_view& text, std::uint64_t& out) {
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, out);
  if (code != std::errc{} || !is_digit(text[0])) return false;
  const auto length = static_cast<std::size_t>(end - text.data());
  if (length > 1 && text[0] == '0') return false;
  text.remove_prefix(length);
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

enum class LeadingZeros { kAllowed, kRefused };

/// Takes identifiers separated by dots off the front of `text`.
bool take_identifiers(std::string_view& text, LeadingZeros zeros) {
  do {
    const auto end = std::ranges::find_if_not(text, is_identifier_letter);
    const std::string_view identifier(text.begin(), end);
    if (identifier.empty()) return false;
    if (zeros == LeadingZeros::kRefused && identifier.size() > 1 && identifier[0] == '0' &&
        std::ranges::all_of(identifier, is_digit))
      return false;
    text.remove_prefix(identifier.size());
  } while (take(text, '.'));
  return true;
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const bool numbers = take_number(text, version.major) && take(text, '.') &&
                       take_number(text, version.minor) && take(text, '.') &&
                       take_number(text, version.patch);
  if (!numbers) return {};
  if (take(text, '-') && !take_identifiers(text, LeadingZeros::kRefused)) return {};
  if (take(text, '+') && !take_identifiers(text, LeadingZeros::kAllowed)) return {};
  if (!text.empty()) return {};
  return version;
}

Support support_of(const Version& version) {
  if (version.major == 0)
    return version.minor == 5 || version.minor == 6 ? Support::kLegacy05 : Support::kNone;
  if (version.major > 1) return Support::kNone;
  return version.minor <= 3 ? Support::kCurrent : Support::kNewer;
}

bool honours_pids_limit_of_zero(std::string_view oci_version) {
  const auto version = parse_version(oci_version);
  return version && version->major == 1 && version->minor >= 3;
}

}  // namespace ocirun::bundle
