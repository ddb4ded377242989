#pragma once

#include <string_view>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "bundle/json/value.hpp"
#include "linux/base/error.hpp"

namespace ocirun::bundle {

/// Parses `text`, and reads it with `reader`, such as a table of fields. The error begins with
/// `what`.
template <typename T, typename Reader>
Result<T> read_json(std::string_view what, std::string_view text, const Reader& reader) {
  Document document;
  Report report;
  T out;
  if (document.parse(text, report)) reader(Value(*document.root(), report), out);
  if (!report.ok()) return refuse("{}: {}", what, report.first_problem());
  return out;
}

}  // namespace ocirun::bundle
