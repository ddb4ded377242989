#pragma once

#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// What a text in a unit file means to systemd.
enum class UnitText : std::uint8_t {
  kCommandWord,  // a word of ExecStart=, in which "$" begins a variable: systemd.service(5)
  kPath,         // a word of RequiresMountsFor=: systemd.syntax(7)
  kSentence,     // the value of Description=, which has no quotes
};

/// Writes texts so that systemd reads the same bytes again. "%" begins a specifier everywhere. A
/// path in the home directory of a user unit's user begins with "%h" instead.
class UnitWords {
 public:
  /// `home`: an absolute path; "": no path begins with "%h".
  explicit UnitWords(std::string_view home = "") : home_(home) {}

  /// Quotes the text if it needs quotes. Errors: a control character other than a tab, because a
  /// line of a unit ends at a line break; bytes that are not UTF-8, for which systemd drops the
  /// line.
  Result<std::string> write(std::string_view text, UnitText kind) const;
  /// The texts with blanks between.
  Result<std::string> write_all(std::span<const std::string> texts, UnitText kind) const;

 private:
  bool begins_with_home(std::string_view text, std::size_t at) const;
  std::string home_;
};

}  // namespace ocirun::pods
