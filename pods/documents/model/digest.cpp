#include "pods/documents/model/digest.hpp"

#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::pods {
namespace {

using Algorithm = Digest::Algorithm;

struct AlgorithmRow {
  Algorithm algorithm;
  std::string_view name;
  std::size_t digits;
};
constexpr std::array kAlgorithms{AlgorithmRow{Algorithm::kSha256, "sha256", 64},
                                 AlgorithmRow{Algorithm::kSha512, "sha512", 128}};

bool is_hex_digit(char c) { return linux::is_digit(c) || (c >= 'a' && c <= 'f'); }

}  // namespace

Result<Digest> Digest::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto row = std::ranges::find(kAlgorithms, name, &AlgorithmRow::name);
  if (colon == std::string_view::npos || row == kAlgorithms.end())
    return refuse("digest {}: must begin with sha256: or sha512:", bundle::in_quotes(text));
  const std::string_view hex = text.substr(colon + 1);
  if (hex.size() != row->digits || !std::ranges::all_of(hex, is_hex_digit))
    return refuse("digest {}: {} hexadecimal digits in lower case must follow {}:",
                  bundle::in_quotes(text), row->digits, name);
  return Digest(row->algorithm, std::string(hex));
}

std::string_view Digest::algorithm_name() const {
  return std::ranges::find(kAlgorithms, algorithm_, &AlgorithmRow::algorithm)->name;
}

std::string Digest::text() const { return fmt::format("{}:{}", algorithm_name(), hex_); }

struct Hasher::State {
  explicit State(Algorithm of) : algorithm(of) {
    ::nettle_sha256_init(&sha256);
    ::nettle_sha512_init(&sha512);
  }

  Algorithm algorithm;
  sha256_ctx sha256;
  sha512_ctx sha512;
};

Hasher::Hasher(Algorithm algorithm) : state_(std::make_unique<State>(algorithm)) {}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::update(const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(data);
  if (state_->algorithm == Algorithm::kSha256)
    ::nettle_sha256_update(&state_->sha256, size, bytes);
  else
    ::nettle_sha512_update(&state_->sha512, size, bytes);
}

Digest Hasher::finish() {
  std::array<std::uint8_t, SHA512_DIGEST_SIZE> bytes{};
  const bool is_short = state_->algorithm == Algorithm::kSha256;
  const std::size_t size = is_short ? SHA256_DIGEST_SIZE : SHA512_DIGEST_SIZE;
  if (is_short)
    ::nettle_sha256_digest(&state_->sha256, size, bytes.data());
  else
    ::nettle_sha512_digest(&state_->sha512, size, bytes.data());
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return Digest(state_->algorithm, std::move(hex));
}

Digest digest_of(std::string_view content, Algorithm algorithm) {
  Hasher hasher(algorithm);
  hasher.update(content.data(), content.size());
  return hasher.finish();
}

}  // namespace ocirun::pods
