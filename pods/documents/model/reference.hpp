#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pods/documents/model/digest.hpp"

namespace ocirun::pods {

/// The name of an image as people write it, by the grammar of the distribution project:
/// [HOST[:PORT]/]PATH[:TAG][@DIGEST]. The first component is a host only if it has "." or ":", or
/// is "localhost"; without a host, docker.io is meant, and there "library/" before a single name.
struct Reference {
  std::string host;  // "docker.io", "localhost:5000"
  std::string path;  // "library/nginx"
  std::string tag;   // "" if none was written
  std::optional<Digest> digest;

  /// Errors name the part that breaks the grammar: an upper-case letter in the path, an empty
  /// component, a tag above 128 characters, a name above 255, a digest that Digest refuses.
  static Result<Reference> parse(std::string_view text);

  /// "docker.io/library/nginx"
  std::string name() const { return host + "/" + path; }
  /// The tag to look for: "latest" if the reference has neither a tag nor a digest.
  std::string wanted_tag() const { return tag.empty() && !digest ? "latest" : tag; }
  /// The reference with all parts: "docker.io/library/nginx:latest", "…@sha256:…".
  std::string text() const;

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// The name of an image to look for in a source.
class WantedName {
 public:
  /// `text` is ManifestChoice::reference. A text that is no reference matches only the same text.
  explicit WantedName(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_any() const { return text_.empty(); }
  /// The digest in the name, if there is one. Names are not compared then.
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
