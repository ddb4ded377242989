#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "pods/prepare/devices/spec.hpp"

namespace ocirun::test {

/// A specification of the kind vendor.com/gpu. `edits` is containerEdits of its only device, "0",
/// and `more` are further members of the file, each with a comma behind.
inline std::string device_file(std::string_view edits, std::string_view version = "1.1.0",
                               std::string_view more = "") {
  return fmt::format(
      R"({{"cdiVersion": "{}", "kind": "vendor.com/gpu", {}
"devices": [{{"name": "gpu-0", "containerEdits": {}}}]}})",
      version, more, edits);
}

/// The problems of a specification, a line each; "": none.
inline std::string faults(std::string_view text) {
  const auto spec = pods::read_cdi_spec("f.json", text);
  return spec ? "" : fmt::format("{}\n", fmt::join(spec.error().problems, "\n"));
}

/// Reads a specification without problems.
inline pods::CdiSpec read_good(std::string_view text) {
  auto spec = pods::read_cdi_spec("f.json", text);
  if (!spec) throw std::runtime_error(fmt::format("{}", fmt::join(spec.error().problems, "\n")));
  return *std::move(spec);
}

}  // namespace ocirun::test
