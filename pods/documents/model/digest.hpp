#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// The digest of a blob (image-spec descriptor.md#digests): "sha256:" and 64, or "sha512:" and 128
/// hexadecimal digits in lower case. Refuses other algorithms, because ocirun cannot verify them.
class Digest {
 public:
  enum class Algorithm { kSha256, kSha512 };

  /// A digest that is not set.
  Digest() = default;
  /// Errors: an unknown algorithm; a wrong number of digits; a character that is no such digit.
  static Result<Digest> parse(std::string_view text);
  /// `hex` must be digits as parse() wants them.
  Digest(Algorithm algorithm, std::string hex) : algorithm_(algorithm), hex_(std::move(hex)) {}

  Algorithm algorithm() const { return algorithm_; }
  std::string_view algorithm_name() const;  // "sha256", the directory of the blob in a layout
  const std::string& hex() const { return hex_; }
  std::string text() const;  // "sha256:…"

  /// A digest that is not set equals no digest, not even another one that is not set.
  friend bool operator==(const Digest& a, const Digest& b) {
    return a.algorithm_ == b.algorithm_ && a.hex_ == b.hex_ && !a.hex_.empty();
  }

 private:
  Algorithm algorithm_ = Algorithm::kSha256;
  std::string hex_;
};

/// Computes a digest piece by piece (nettle).
class Hasher {
 public:
  explicit Hasher(Digest::Algorithm algorithm);
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  ~Hasher();

  void update(const void* data, std::size_t size);
  /// Ends the computation; update() must not be called any more.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The digest of `content`.
Digest digest_of(std::string_view content,
                 Digest::Algorithm algorithm = Digest::Algorithm::kSha256);

}  // namespace ocirun::pods
