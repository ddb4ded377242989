#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pods/images/reference.hpp"

namespace ocirun::pods {

/// The name of an image that somebody looks for.
class WantedName {
 public:
  /// `text` as ManifestChoice::reference. A text that is no reference matches only itself.
  explicit WantedName(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_any() const { return text_.empty(); }
  /// The digest in the name, or nothing. Names do not count then.
  std::optional<Digest> digest() const;

  enum class Match { kNone, kTagOnly, kWhole };
  /// Compares with a name that a source gives an image: the same text, or the same reference
  /// ("nginx" and "docker.io/library/nginx:latest"), or the wanted tag alone ("1.25").
  Match match(std::string_view given) const;

 private:
  std::string text_;
  std::optional<Reference> reference_;
};

}  // namespace ocirun::pods
