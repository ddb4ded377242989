#include "pods/documents/model/reference.hpp"

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using linux::is_digit;
using linux::is_letter;
using linux::is_lower;

constexpr std::size_t kLongestName = 255;  // host and path
constexpr std::size_t kLongestTag = 128;

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// path-component ::= [a-z0-9]+ ((one of ".", "_", "__", or any number of "-") [a-z0-9]+)*
bool is_path_component(std::string_view text) {
  const auto is_alphanumeric = [](char c) { return is_lower(c) || is_digit(c); };
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_alphanumeric(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end =
        std::min(text.find_first_not_of(text[i], i), text.size());  // of a run of one separator
    const std::size_t length = end - i;
    const bool good =
        text[i] == '-' || (text[i] == '.' && length == 1) || (text[i] == '_' && length <= 2);
    if (!good || !is_alphanumeric(text[end])) return false;
    i = end;
  }
  return true;
}

/// A DNS name or an IPv4 address: labels of letters, digits and inner dashes.
bool is_host_name(std::string_view text) {
  return std::ranges::all_of(linux::split(text, '.'), [](std::string_view label) {
    return !label.empty() && label.front() != '-' && label.back() != '-' &&
           std::ranges::all_of(label,
                               [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
  });
}

bool is_host(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {  // an IPv6 address
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const bool good = std::ranges::all_of(text.substr(1, end - 1), [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
    });
    if (!good) return false;
    if (end + 1 == text.size()) return true;
    if (text[end + 1] != ':') return false;
    port = text.substr(end + 2);
  } else {
    const std::size_t colon = text.find(':');
    if (!is_host_name(text.substr(0, colon))) return false;
    if (colon == std::string_view::npos) return true;
    port = text.substr(colon + 1);
  }
  return linux::number<std::uint16_t>(port).has_value();
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= kLongestTag && is_word(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

}  // namespace

Result<Reference> Reference::parse(std::string_view text) {
  const std::string shown = bundle::in_quotes(text);
  Reference reference;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    auto digest = Digest::parse(rest.substr(at + 1));
    if (!digest)
      return within(Result<Reference>(std::unexpected(digest.error())), "image {}", shown);
    reference.digest = *std::move(digest);
    rest = rest.substr(0, at);
  }
  // A colon after the last slash begins the tag; one before it belongs to the host's port.
  const std::size_t slash = rest.rfind('/');
  const std::size_t colon = rest.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) {
    const std::string_view tag = rest.substr(colon + 1);
    if (!is_tag(tag))
      return refuse(
          "image {}: the tag {} must be 1 to {} letters, digits, \"_\", \".\" and \"-\", the first "
          "neither \".\" nor \"-\"",
          shown, bundle::in_quotes(tag), kLongestTag);
    reference.tag = tag;
    rest = rest.substr(0, colon);
  }
  const std::size_t first_slash = rest.find('/');
  const std::string_view first = rest.substr(0, first_slash);
  const bool has_host =
      first_slash != std::string_view::npos &&
      (first.find_first_of(".:[") != std::string_view::npos || first == "localhost" ||
       std::ranges::any_of(first, [](char c) { return is_letter(c) && !is_lower(c); }));
  if (has_host && !is_host(first))
    return refuse("image {}: {} is no host", shown, bundle::in_quotes(first));
  const std::string_view path = has_host ? rest.substr(first_slash + 1) : rest;
  for (const std::string_view component : linux::split(path, '/'))
    if (!is_path_component(component))
      return refuse(
          "image {}: {} must be lower-case letters and digits, with single \".\", \"_\", \"__\" or "
          "dashes between them",
          shown, bundle::in_quotes(component));
  reference.host = has_host && first != "index.docker.io" ? std::string(first) : "docker.io";
  const bool is_official =
      reference.host == "docker.io" && path.find('/') == std::string_view::npos;
  reference.path = (is_official ? "library/" : "") + std::string(path);
  if (reference.name().size() > kLongestName)
    return refuse("image {}: a name has at most {} characters", shown, kLongestName);
  return reference;
}

std::string Reference::text() const {
  std::string text = name();
  if (const std::string shown = wanted_tag(); !shown.empty()) text += ":" + shown;
  if (digest) text += "@" + digest->text();
  return text;
}

WantedName::WantedName(std::string_view text) : text_(text) {
  if (auto digest = Digest::parse(text)) {
    reference_ = Reference{"", "", "", *std::move(digest)};
  } else if (auto reference = Reference::parse(text)) {
    reference_ = *std::move(reference);
  }
}

std::optional<Digest> WantedName::digest() const {
  return reference_ ? reference_->digest : std::nullopt;
}

WantedName::Match WantedName::match(std::string_view given) const {
  if (given == text_) return Match::kWhole;
  if (!reference_) return Match::kNone;
  if (const auto other = Reference::parse(given))
    if (other->name() == reference_->name() && other->wanted_tag() == reference_->wanted_tag())
      return Match::kWhole;
  return given == reference_->wanted_tag() ? Match::kTagOnly : Match::kNone;
}

}  // namespace ocirun::pods
