#pragma once

// Readers of values that several documents of the image-spec have.

#include <string>
#include <string_view>
#include <utility>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "pods/images/manifest.hpp"

namespace ocirun::pods {

bool read_digest(bundle::Value at, Digest& out);
/// Reads and writes a digest that is a member of a record.
struct DigestText {
  bool operator()(bundle::Value at, Digest& out) const { return read_digest(at, out); }
  static void write(bundle::JsonWriter& out, const Digest& digest) { out.value(digest.text()); }
};
bool read_descriptor(bundle::Value at, Descriptor& out);
/// An object whose values are strings.
bool read_annotations(bundle::Value at, Annotations& out);
bool read_schema_version(bundle::Value at, int& out);  // must be 2

/// A row that refuses a name which only another kind of document may have.
constexpr auto foreign_field(std::string_view key, std::string_view owner) {
  return bundle::part(key, [owner](bundle::Value at, auto&) {
    at.problem("belongs into {}, so this document has two meanings", owner);
    return false;
  });
}

}  // namespace ocirun::pods
