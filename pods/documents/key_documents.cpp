#include "pods/documents/key_documents.hpp"

#include <nettle/base64.h>

#include <algorithm>

#include "linux/base/letters.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

struct Draft {
  std::string name, type;
  KeyDocument document;
  std::map<std::string, std::string> written;  // stringData, which is stronger than data
};

/// A key is the name of a file.
bool key_name(Value member) {
  const std::string_view key = member.key();
  const auto is_good = [](char c) {
    return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  if (!key.empty() && key.size() <= 253 && std::ranges::all_of(key, is_good) && key != "." &&
      !key.starts_with(".."))
    return true;
  member.problem(
      "the key must be 1 to 253 letters, digits, \"-\", \"_\" and \".\", and must not begin with "
      "\"..\"");
  return false;
}

/// Any text: a value may have NUL.
bool plain(Value at, std::string& out) {
  if (!at.node().is_string() || at.node().plain) return string(at, out);
  out = at.node().text;
  return true;
}

/// RFC 4648, section 4; line breaks and blanks between the characters do not count.
bool base64(Value at, std::string& out) {
  std::string text;
  if (!plain(at, text)) return false;
  base64_decode_ctx context{};
  ::nettle_base64_decode_init(&context);
  out.resize(BASE64_DECODE_LENGTH(text.size()));
  std::size_t size = out.size();
  const bool is_good =
      ::nettle_base64_decode_update(&context, &size, reinterpret_cast<std::uint8_t*>(out.data()),
                                    text.size(), text.data()) == 1 &&
      ::nettle_base64_decode_final(&context) == 1;
  if (!is_good) {
    at.problem("must be base64 (stringData of a Secret has plain text)");
    return false;
  }
  out.resize(size);
  return true;
}

/// An object of keys, whose values `reader` reads.
template <typename Reader>
constexpr auto keys(Reader reader, bool is_binary) {
  return [=](Value at, Draft& out) {
    if (!at.expect_object()) return false;
    bool good = true;
    for (const Value member : at) {
      std::string bytes;
      if (!key_name(member) || !reader(member, bytes)) {
        good = false;
        continue;
      }
      const KeyDocument::Key key{.bytes = std::move(bytes), .is_binary = is_binary};
      if (out.document.keys.emplace(member.key(), key).second) continue;
      member.problem("the key is in data and in binaryData");
      good = false;
    }
    return good;
  };
}

/// Texts that have no effect here.
constexpr auto unused_texts(std::string_view key, std::string_view why) {
  return part(key, [why](Value at, Draft&) {
    std::map<std::string, std::string> texts;
    if (!string_map(at, texts)) return false;
    if (!texts.empty()) at.warning("has no effect: {}", why);
    return true;
  });
}

constexpr auto kKeyMetadata =
    exact_fields<Draft>(required("name", &Draft::name, dns_name),
                        unused_texts("labels", "nothing selects the document by them"),
                        unused_texts("annotations", "the document belongs to no container"))
        .beside(&warn_of_cluster_name);

/// `immutable` has no effect: the values are read when the pod starts.
constexpr auto immutable = [](Value at, Draft&) {
  bool ignored = false;
  return boolean(at, ignored);
};

constexpr auto kConfigMap =
    exact_fields<Draft>(part("apiVersion", any_value), part("kind", any_value),
                        required_part("metadata", kKeyMetadata), part("data", keys(plain, false)),
                        part("binaryData", keys(base64, true)), part("immutable", immutable));

bool string_data(Value at, Draft& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at)
    good &= key_name(member) && plain(member, out.written[std::string(member.key())]);
  return good;
}

constexpr auto kSecret = exact_fields<Draft>(
    part("apiVersion", any_value), part("kind", any_value), required_part("metadata", kKeyMetadata),
    part("data", keys(base64, false)), part("stringData", string_data),
    field("type", &Draft::type, string), part("immutable", immutable));

/// The keys that Kubernetes wants in a secret of a type.
void check_type(Value at, const Draft& secret) {
  static constexpr std::pair<std::string_view, std::string_view> kNeeded[] = {
      {"kubernetes.io/tls", "tls.crt"},
      {"kubernetes.io/tls", "tls.key"},
      {"kubernetes.io/ssh-auth", "ssh-privatekey"},
      {"kubernetes.io/dockercfg", ".dockercfg"},
      {"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
  };
  for (const auto& [type, key] : kNeeded)
    if (secret.type == type && !secret.document.keys.contains(std::string(key)))
      at.problem_at("type", "a secret of this type needs the key \"{}\"", key);
}

}  // namespace

bool is_key_document(const bundle::Node& root) {
  const std::string_view kind = text_of_member(root, "kind");
  return text_of_member(root, "apiVersion") == "v1" && (kind == "ConfigMap" || kind == "Secret");
}

bool read_key_document(Value at, NamedKeys& out) {
  const std::size_t before = at.report().problem_count();
  const bool is_secret = text_of_member(at.node(), "kind") == "Secret";
  Draft draft;
  if (is_secret ? !kSecret(at, draft) : !kConfigMap(at, draft)) return false;
  for (auto& [key, bytes] : draft.written)
    draft.document.keys[key] = {.bytes = std::move(bytes), .is_binary = false};
  if (is_secret) check_type(at, draft);
  out.name = is_secret ? draft.name : fmt::format("{}{}", kConfigMapPrefix, draft.name);
  out.document = std::move(draft.document);
  out.document.place = &at.node();
  return at.report().problem_count() == before;
}

std::string shown_secret(std::string_view name) {
  if (!name.starts_with(kConfigMapPrefix)) return fmt::format("the secret \"{}\"", name);
  return fmt::format("the config map \"{}\"", name.substr(kConfigMapPrefix.size()));
}

std::vector<std::string> used_secrets(const Pod& pod) {
  std::vector<std::string> names;
  for (const Container* container : all_containers(pod)) {
    for (const EnvSource& source : container->env_sources) names.push_back(source.secret);
    for (const EnvVariable& variable : container->env)
      if (const auto* key = std::get_if<SecretKey>(&variable.value)) names.push_back(key->secret);
  }
  for (const Volume& volume : pod.volumes)
    if (volume.kind == Volume::Source::kSecret) names.push_back(volume.source);
  return names;
}

}  // namespace ocirun::pods
