// Any bytes as a workload document, in YAML or JSON: OAM, App Container, Knative, Kubernetes or
// Radius. A problem or a warning must have a place in the text, and what the operator has to give
// must be tellable.
#include <algorithm>

#include "pods/documents/needs.hpp"
#include "pods/documents/workload.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const auto lines = static_cast<unsigned>(std::ranges::count(text, '\n')) + 1;
  const pods::Workload workload = pods::read_workload("f", text);
  fuzz::require(workload.problems.empty() == (workload.problem_count == 0));
  if (workload.problem_count != 0) return 0;
  fuzz::require(!workload.pod.containers.empty());
  for (const pods::Container& container : workload.pod.containers) {
    const pods::Mark mark = workload.source->mark(container.place);
    fuzz::require(mark.line >= 1 && mark.line <= lines && mark.column >= 1);
  }
  for (const pods::Need& need : pods::needs_of(workload.pod))
    fuzz::require(!workload.at(need.place).empty());
  return 0;
}
