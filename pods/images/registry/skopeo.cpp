#include "pods/images/registry/skopeo.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// How often skopeo tries again after a failure. In each try, skopeo asks a registry that answers
/// "too many requests" five times.
constexpr const char* kRetries = "1";

void add_access(std::vector<std::string>& words, const SkopeoAccess& access,
                const char* verify_option) {
  if (!access.auth_file.empty()) words.insert(words.end(), {"--authfile", access.auth_file});
  if (access.plain_http) words.push_back(fmt::format("--{}=false", verify_option));
}

/// The text of a Go string literal whose first quote is gone, to its last quote.
std::string unquoted(std::string_view literal) {
  std::string text;
  for (std::size_t i = 0; i < literal.size() && literal[i] != '"'; ++i) {
    if (literal[i] != '\\' || i + 1 == literal.size()) {
      text += literal[i];
      continue;
    }
    const char escaped = literal[++i];
    if (escaped == 'n' || escaped == 't' || escaped == 'r') {
      text += ' ';
    } else if (escaped == 'x' && i + 2 < literal.size()) {
      int code = '?';
      std::from_chars(literal.data() + i + 1, literal.data() + i + 3, code, 16);
      text += static_cast<char>(code);
      i += 2;
    } else {
      text += escaped == '"' || escaped == '\\' ? escaped : '?';  // \a, \u…
    }
  }
  return text;
}

/// Removes `before`, text and `after` from the beginning of `reason`.
void strip(std::string& reason, std::string_view before, std::string_view after) {
  if (!reason.starts_with(before)) return;
  const std::size_t end = reason.find(after, before.size());
  if (end != std::string::npos) reason.erase(0, end + after.size());
}

struct Advice {
  std::string_view words;   // in skopeo's message
  std::string_view advice;  // {} stands for the registry
};

constexpr std::string_view kLogIn =
    "`skopeo login {}` keeps your credentials; --pull-secret NAME=AUTHFILE gives those of a secret "
    "that the document names";

constexpr std::array kAdvices{
    Advice{"server gave HTTP response to HTTPS client",
           "the registry speaks plain HTTP: --plain-http {} allows that"},
    Advice{"x509:",
           "/etc/containers/certs.d/{}/ca.crt is the place for the certificate of an authority "
           "that your machine does not know"},
    Advice{"toomanyrequests", "the registry limits your requests: try later, or log in"},
    Advice{"unauthorized", kLogIn},
    Advice{"authentication required", kLogIn},
    Advice{"invalid username/password",
           "the registry refuses your credentials: `skopeo login {}` changes them"},
    Advice{"denied", "the registry does not let you read the image, or has none of this name"},
    Advice{"manifest unknown", "the registry has no image of this name and tag or digest"},
    Advice{"unexpected EOF", "the registry has ended the connection in the middle of a blob"},
    Advice{"Digest did not match", "the registry has sent other bytes than its manifest lists"},
    Advice{"trust policy", "containers-policy.json(5) describes the file"},
};

}  // namespace

std::vector<std::string> inspect_words(const std::string& address, const SkopeoAccess& access) {
  std::vector<std::string> words{"inspect", "--raw", "--retry-times", kRetries};
  add_access(words, access, "tls-verify");
  words.push_back(address);
  return words;
}

std::vector<std::string> copy_words(const std::string& address, const std::string& layout,
                                    const SkopeoAccess& access, bool keeps_digests) {
  // Without --tmpdir, temporary files would stay in /var/tmp if skopeo was killed.
  std::vector<std::string> words{"--tmpdir",      layout,  "copy", "--remove-signatures",
                                 "--retry-times", kRetries};
  words.emplace_back(keeps_digests ? "--preserve-digests"
                                   : "--dest-oci-accept-uncompressed-layers");
  add_access(words, access, "src-tls-verify");
  words.insert(words.end(), {address, fmt::format("oci:{}:image", layout)});
  return words;
}

// Lines of skopeo: time="…" level=fatal msg="…"
std::string skopeos_reason(std::string_view said) {
  constexpr std::string_view kMessage = " msg=";
  constexpr std::string_view kRetry = "Failed, retrying in ";
  constexpr std::string_view kError = " Error: ";
  constexpr std::size_t kLongest = 1000;
  std::string reason;
  for (const std::string_view line : linux::words(said, '\n')) {
    const std::size_t message = line.find(kMessage);
    if (message == std::string_view::npos) {
      if (reason.empty()) reason = line;
      continue;
    }
    const std::string_view text = line.substr(message + kMessage.size());
    reason = text.starts_with('"') ? unquoted(text.substr(1)) : std::string(text);
  }
  if (reason.starts_with(kRetry))
    if (const std::size_t error = reason.find(kError); error != std::string::npos)
      reason.erase(0, error + kError.size());
  strip(reason, "Error parsing image name \"", "\": ");
  strip(reason, "initializing source docker://", ": ");
  if (reason.size() > kLongest) reason = reason.substr(0, kLongest) + "…";
  return reason;
}

std::string advice_for(std::string_view reason, std::string_view host) {
  for (const auto& [words, advice] : kAdvices) {
    if (!reason.contains(words)) continue;
    return fmt::format(" ({})", fmt::format(fmt::runtime(advice), host));
  }
  return "";
}

}  // namespace ocirun::pods
