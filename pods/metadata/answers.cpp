#include "pods/metadata/answers.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>

namespace ocirun::pods {
namespace {

constexpr std::string_view kVersion = "acMetadata/v1/";
constexpr std::string_view kSignPath = "pod/hmac/sign", kVerifyPath = "pod/hmac/verify";
constexpr std::size_t kMostShortField = 256;  // bytes; a signature has 88

/// Whether two texts are the same, in a time that depends on their lengths alone.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

struct Signature::State {
  explicit State(std::string_view key) {
    // No file of the host is read: the process has none.
    ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    EVP_MAC* const method = ::EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
    if (method == nullptr) return;
    context = ::EVP_MAC_CTX_new(method);
    ::EVP_MAC_free(method);
    char digest[] = "SHA512";
    const std::array<OSSL_PARAM, 2> parameters{
        ::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        ::OSSL_PARAM_construct_end()};
    is_good = context != nullptr &&
              ::EVP_MAC_init(context, reinterpret_cast<const unsigned char*>(key.data()),
                             key.size(), parameters.data()) == 1;
  }
  ~State() { ::EVP_MAC_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MAC_CTX* context = nullptr;
  bool is_good = false;
};

Signature::Signature(std::string_view key) : state_(std::make_unique<State>(key)) {}
Signature::Signature(Signature&&) noexcept = default;
Signature& Signature::operator=(Signature&&) noexcept = default;
Signature::~Signature() = default;

void Signature::add(std::string_view piece) {
  state_->is_good =
      state_->is_good &&
      ::EVP_MAC_update(state_->context, reinterpret_cast<const unsigned char*>(piece.data()),
                       piece.size()) == 1;
}

std::string Signature::finish() {
  constexpr std::size_t kBytes = 64, kCharacters = (kBytes + 2) / 3 * 4;
  std::array<unsigned char, kBytes> bytes{};
  std::size_t size = 0;
  if (!state_->is_good || ::EVP_MAC_final(state_->context, bytes.data(), &size, bytes.size()) != 1)
    return "";
  std::array<unsigned char, kCharacters + 1> text{};
  const int length = ::EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(size));
  return std::string(text.begin(), text.begin() + length);
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

/// The path below "/TOKEN/acMetadata/v1/"; "" if it is none.
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
  if (signature.empty()) return in_words(500, "the signature could not be computed");
  if (target == Target::kSign) {
    Response answer;
    answer.text = signature;
    return answer;
  }
  if (!form.has_uuid_ || !form.has_claimed_)
    return in_words(400, "the form must have the fields content, uuid and signature");
  // The key of another pod is that pod's secret.
  if (!is_same(form.uuid_, content_.uuid))
    return in_words(403, "the signature cannot be verified: uuid is not this pod's");
  if (!is_same(form.claimed_, signature)) return in_words(403, "the signature is wrong");
  return in_words(200, "the signature is right");
}

}  // namespace ocirun::pods
