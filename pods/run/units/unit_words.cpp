#include "pods/run/units/unit_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// The characters of words that need no quotes. A ";" alone would separate two commands.
bool is_plain(char c) {
  constexpr std::string_view kOther = "/-_=.,:@+%";
  return linux::is_alphanumeric(c) || kOther.contains(c);
}

bool is_control(unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; }

}  // namespace

bool UnitWords::begins_with_home(std::string_view text, std::size_t at) const {
  if (home_.empty() || (at != 0 && text[at - 1] != '=')) return false;
  const std::string_view rest = text.substr(at);
  return rest.starts_with(home_) && (rest.size() == home_.size() || rest[home_.size()] == '/');
}

Result<std::string> UnitWords::write(std::string_view text, UnitText kind) const {
  if (std::ranges::any_of(text, is_control) || !bundle::is_utf8(text))
    return refuse(
        "\"{}\" cannot stand in a unit of systemd: a unit has UTF-8 without line breaks and other "
        "control characters",
        linux::in_one_line(text));
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (kind != UnitText::kSentence && begins_with_home(text, i)) {
      written += "%h";
      i += home_.size() - 1;
      continue;
    }
    if (c == '%' || (c == '$' && kind == UnitText::kCommandWord)) written += c;
    if ((c == '"' || c == '\\') && kind != UnitText::kSentence) written += '\\';
    written += c;
  }
  if (kind == UnitText::kSentence || (!text.empty() && std::ranges::all_of(text, is_plain)))
    return written;
  return fmt::format("\"{}\"", written);
}

Result<std::string> UnitWords::write_all(std::span<const std::string> texts, UnitText kind) const {
  std::string line;
  for (const std::string& text : texts) {
    OCIRUN_TRY_ASSIGN(const std::string word, write(text, kind));
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

}  // namespace ocirun::pods
