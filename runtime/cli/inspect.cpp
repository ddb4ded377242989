#include "runtime/inspect/inspect.hpp"

#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"

namespace ocirun::runtime::cli {

Result<int> run_inspect(const Invocation& invocation) {
  constexpr int kHasDrift = 3;
  constexpr int kMayHaveDrift = 4;
  const Arguments& arguments = invocation.arguments;
  const std::string format = arguments.value("format").value_or("text");
  if (format != "text" && format != "json")
    return refuse("--format {}: must be text or json", format);
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  OCIRUN_TRY_ASSIGN(Inspection inspection, inspect(container));
  const bool drift_alone = arguments.has("drift");
  if (drift_alone && !inspection.is_alive)
    return refuse("container {} is {}: it has no process to compare", id.string(),
                  bundle::status_name(inspection.state.status));
  const bool has_drift = inspection.drifts() != 0;
  if (drift_alone) inspection = drift_of(std::move(inspection));
  OCIRUN_TRY(print(format == "json" ? inspection_json(inspection) : inspection_text(inspection)));
  if (!drift_alone) return 0;
  if (has_drift) return kHasDrift;
  return inspection.count(Verdict::kUnknown) != 0 ? kMayHaveDrift : 0;
}

}  // namespace ocirun::runtime::cli
