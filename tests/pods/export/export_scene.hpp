#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <string_view>

#include "pods/export/export.hpp"
#include "pods/prepare/complete.hpp"
#include "tests/pods/documents/read.hpp"

namespace ocirun::pods {

/// The options of an export in a test.
struct ExportOptions {
  std::map<std::string, std::string> parameters = {};
  std::map<std::string, std::string> images = {};
  std::map<std::string, std::uint64_t> sizes = {};
  std::optional<ExportedKind> kind = {};
  std::string runtime_class = {};
  PortMode port_mode = PortMode::kIngress;
  EndpointMode endpoint_mode = EndpointMode::kVip;
  bool lossy = false;
  Given given = {};
  std::string name = {};  // "": that of the document, else "shop"
};

/// Completes a workload, whose document must have no problem.
inline Result<Completed> complete_by(const ExportOptions& options, Workload workload) {
  Given given = options.given;
  given.bindings.parameters = options.parameters;
  return complete(std::move(workload), std::move(given), {}, {}, Audience::kRunning);
}

inline Result<Exported> export_completed(const Completed& completed, const ExportOptions& options,
                                         Result<Exported> (*to)(const ExportRequest&)) {
  return to({.completed = completed,
             .name = !options.name.empty()                    ? options.name
                     : workload_name(completed.pod()).empty() ? "shop"
                                                              : workload_name(completed.pod()),
             .images = options.images,
             .sizes = options.sizes,
             .seccomp = {},
             .kind = options.kind,
             .runtime_class = options.runtime_class,
             .port_mode = options.port_mode,
             .endpoint_mode = options.endpoint_mode,
             .lossy = options.lossy});
}

inline Result<Exported> export_workload(Workload workload, const ExportOptions& options,
                                        Result<Exported> (*to)(const ExportRequest&)) {
  OCIRUN_TRY_ASSIGN(const Completed completed, complete_by(options, std::move(workload)));
  return export_completed(completed, options, to);
}

inline Result<Exported> export_text(
    std::string_view text, const ExportOptions& options = {},
    Result<Exported> (*to)(const ExportRequest&) = export_to_kubernetes) {
  Workload workload = read_workload("f", text);
  BOOST_TEST(lines(workload.problems) == "");
  return export_workload(std::move(workload), options, to);
}

/// The text of an export, or its error.
inline std::string exported(std::string_view text, const ExportOptions& options = {},
                            Result<Exported> (*to)(const ExportRequest&) = export_to_kubernetes) {
  const auto out = export_text(text, options, to);
  return out ? out->text : "error: " + out.error().message();
}

}  // namespace ocirun::pods
