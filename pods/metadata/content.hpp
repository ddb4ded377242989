#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// A text that the metadata service serves.
struct Resource {
  std::string path;        // below /acMetadata/v1/: "pod/uuid"
  std::string media_type;  // without line break and NUL
  std::string body;
};

/// Everything that the program ocirun-metadata serves. The supervisor of a pod passes it in a file
/// in memory, because it contains two secrets.
struct Content {
  std::string token;  // the first part of the path of each URL
  std::string uuid;   // of the pod
  std::string key;    // the key of the pod's signatures, as bytes
  std::vector<Resource> resources;
};

inline constexpr std::size_t kMostContentBytes = std::size_t{64} << 20;

/// The text in which the supervisor passes the content on: a line "TOKEN UUID KEY" with the key in
/// hexadecimal digits, then for each resource a line "PATH<TAB>MEDIA-TYPE<TAB>LENGTH", its body and
/// a line break.
std::string content_text(const Content& content);
/// Parses the text of content_text(). Errors: another text.
Result<Content> parse_content(std::string_view text);

/// `bytes` as hexadecimal digits in lower case.
std::string hexadecimal(std::string_view bytes);

}  // namespace ocirun::pods
