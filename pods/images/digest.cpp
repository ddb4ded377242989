#include "pods/images/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {
namespace {

using Algorithm = Digest::Algorithm;

struct Row {
  Algorithm algorithm;
  std::string_view name;
  std::size_t digits;
};
constexpr std::array kAlgorithms{Row{Algorithm::kSha256, "sha256", 64},
                                 Row{Algorithm::kSha512, "sha512", 128}};

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

Result<Digest> Digest::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto row = std::ranges::find(kAlgorithms, name, &Row::name);
  if (colon == std::string_view::npos || row == kAlgorithms.end())
    return refuse("digest {}: must begin with sha256: or sha512:", bundle::in_quotes(text));
  const std::string_view hex = text.substr(colon + 1);
  if (hex.size() != row->digits || !std::ranges::all_of(hex, is_hex_digit))
    return refuse("digest {}: {} hexadecimal digits in lower case must follow {}:",
                  bundle::in_quotes(text), row->digits, name);
  return Digest(row->algorithm, std::string(hex));
}

std::string_view Digest::algorithm_name() const {
  return std::ranges::find(kAlgorithms, algorithm_, &Row::algorithm)->name;
}

std::string Digest::text() const { return fmt::format("{}:{}", algorithm_name(), hex_); }

namespace {

/// Without the configuration of the host, which may name modules to load: digests need none.
EVP_MD_CTX* new_context() {
  ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  return ::EVP_MD_CTX_new();
}

}  // namespace

struct Hasher::State {
  explicit State(Algorithm of) : algorithm(of), context(new_context()) {
    const EVP_MD* const method = of == Algorithm::kSha256 ? ::EVP_sha256() : ::EVP_sha512();
    good = context != nullptr && ::EVP_DigestInit_ex(context, method, nullptr) == 1;
  }
  ~State() { ::EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Algorithm algorithm;
  EVP_MD_CTX* context;
  bool good;
};

Hasher::Hasher(Algorithm algorithm) : state_(std::make_unique<State>(algorithm)) {}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::update(const void* data, std::size_t size) {
  state_->good = state_->good && ::EVP_DigestUpdate(state_->context, data, size) == 1;
}

Digest Hasher::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (!state_->good || ::EVP_DigestFinal_ex(state_->context, bytes.data(), &size) != 1)
    return Digest(state_->algorithm, "");
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return Digest(state_->algorithm, std::move(hex));
}

Digest digest_of(std::string_view content, Algorithm algorithm) {
  Hasher hasher(algorithm);
  hasher.update(content.data(), content.size());
  return hasher.finish();
}

}  // namespace ocirun::pods
