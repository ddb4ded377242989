#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/images/image_config.hpp"

namespace ocirun::pods {

/// Writes the elements of a list of {"name", "value"}.
inline void write_named_values(const Annotations& values, bundle::JsonWriter& out) {
  out.begin_array();
  for (const auto& [name, value] : values)
    out.begin_object().member("name", name).member("value", value).end_object();
  out.end_array();
}

inline void write_named_values(std::string_view key, const Annotations& values,
                               bundle::JsonWriter& out) {
  out.key(key);
  write_named_values(values, out);
}

/// Writes the member `environment` of an app. `entries`: "NAME=value".
inline void write_environment(const std::vector<std::string>& entries, bundle::JsonWriter& out) {
  out.key("environment").begin_array();
  for (const std::string& entry : entries) {
    std::string_view value = entry;
    const std::string_view name = linux::cut(value, '=');
    out.begin_object().member("name", name).member("value", value).end_object();
  }
  out.end_array();
}

/// The labels and other facts of an OCI image as annotations of an image manifest.
Annotations image_annotations(const ImageConfig& image);

}  // namespace ocirun::pods
