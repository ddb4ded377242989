#include "pods/metadata/answers.hpp"

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ocirun::pods {
namespace {

constexpr std::string_view kVersion = "acMetadata/v1/";
constexpr std::string_view kSignPath = "pod/hmac/sign", kVerifyPath = "pod/hmac/verify";
constexpr std::size_t kMostShortField = 256;  // bytes; a signature has 88

/// Whether two texts are the same, in a time that depends on their lengths alone.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::nettle_memeql_sec(a.data(), b.data(), a.size()) != 0;
}

}  // namespace

struct Signature::State {
  hmac_sha512_ctx context;
};

namespace {

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

Signature::Signature(std::string_view key) : state_(std::make_unique<State>()) {
  ::nettle_hmac_sha512_set_key(&state_->context, key.size(), bytes_of(key));
}
Signature::Signature(Signature&&) noexcept = default;
Signature& Signature::operator=(Signature&&) noexcept = default;
Signature::~Signature() = default;

void Signature::add(std::string_view piece) {
  ::nettle_hmac_sha512_update(&state_->context, piece.size(), bytes_of(piece));
}

std::string Signature::finish() {
  std::array<std::uint8_t, SHA512_DIGEST_SIZE> bytes{};
  ::nettle_hmac_sha512_digest(&state_->context, bytes.size(), bytes.data());
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  ::nettle_base64_encode_raw(text.data(), bytes.size(), bytes.data());
  return text;
}

void Form::add(std::string_view name, std::uint64_t offset, std::string_view piece) {
  if (name == "uuid") return add_short(uuid_, has_uuid_, offset, piece);
  if (name == "signature") return add_short(claimed_, has_claimed_, offset, piece);
  if (name != "content") return;
  if (offset == 0 && has_content_) is_bad_ = true;
  has_content_ = true;
  signature_.add(piece);
}

void Form::add_short(std::string& field, bool& is_there, std::uint64_t offset,
                     std::string_view piece) {
  if ((offset == 0 && is_there) || field.size() + piece.size() > kMostShortField) {
    is_bad_ = true;
    return;
  }
  is_there = true;
  field += piece;
}

Response in_words(unsigned status, std::string_view sentence) {
  Response answer;
  answer.status = status;
  answer.text = fmt::format("{}\n", sentence);
  return answer;
}

/// The path below "/TOKEN/acMetadata/v1/"; "" if `path` is not below it.
std::string_view Answers::below_token(std::string_view path) const {
  if (!path.starts_with('/')) return "";
  path.remove_prefix(1);
  if (!is_same(path.substr(0, content_.token.size()), content_.token)) return "";
  path.remove_prefix(content_.token.size());
  if (!path.starts_with('/') || !path.substr(1).starts_with(kVersion)) return "";
  return path.substr(1 + kVersion.size());
}

const Resource* Answers::find_resource(std::string_view path) const {
  const auto found = std::ranges::find(content_.resources, path, &Resource::path);
  return found == content_.resources.end() ? nullptr : &*found;
}

Target Answers::find(std::string_view path) const {
  const std::string_view name = below_token(path);
  if (name.empty()) return Target::kNothing;
  if (name == kSignPath) return Target::kSign;
  if (name == kVerifyPath) return Target::kVerify;
  return find_resource(name) == nullptr ? Target::kNothing : Target::kResource;
}

bool Answers::wants_form(std::string_view path, std::string_view method) const {
  const Target target = find(path);
  return method == "POST" && (target == Target::kSign || target == Target::kVerify);
}

Response Answers::answer(std::string_view path, std::string_view method) const {
  const Target target = find(path);
  if (target == Target::kNothing) return in_words(404, "there is nothing at this URL");
  const bool is_read = method == "GET" || method == "HEAD";
  if (target == Target::kResource && is_read) {
    const Resource& resource = *find_resource(below_token(path));
    Response answer;
    answer.media_type = resource.media_type;
    answer.body = resource.body;
    return answer;
  }
  Response answer = in_words(405, "this URL does not have the method of the request");
  answer.allow = target == Target::kResource ? "GET, HEAD" : "POST";
  return answer;
}

Response Answers::answer_form(Target target, Form& form) const {
  if (form.is_bad_)
    return in_words(400, "a field of the form is given twice, or uuid or signature is too long");
  if (!form.has_content_) return in_words(400, "the form must have the field content");
  const std::string signature = form.signature_.finish();
  if (target == Target::kSign) {
    Response answer;
    answer.text = signature;
    return answer;
  }
  if (!form.has_uuid_ || !form.has_claimed_)
    return in_words(400, "the form must have the fields content, uuid and signature");
  // Another pod has another key: this service cannot verify its signatures.
  if (!is_same(form.uuid_, content_.uuid))
    return in_words(403, "the signature cannot be verified: uuid is not this pod's");
  if (!is_same(form.claimed_, signature)) return in_words(403, "the signature is wrong");
  return in_words(200, "the signature is right");
}

}  // namespace ocirun::pods
