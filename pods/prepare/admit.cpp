#include "pods/prepare/admit.hpp"

#include <fmt/format.h>
#include <vector>

#include "pods/prepare/capacity.hpp"

namespace ocirun::pods {

Result<void> admit(const Workload& workload, const Given& given) {
  TRY_ASSIGN(const Capacity capacity, read_capacity(given.extended));
  std::vector<std::string> sentences;
  for (const Shortage& shortage : find_shortages(workload.pod, capacity))
    sentences.push_back(fmt::format("{}: {}", workload.at(shortage.place), shortage.sentence));
  if (sentences.empty()) return {};
  return refuse("{}", fmt::join(sentences, "; "));
}

}  // namespace ocirun::pods
