#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {
std::string cpu_quantity(double cpus) {
  const std::uint64_t count = in_thousandths(cpus);
  return count % 1000 == 0 ? fmt::format("{}", count / 1000) : fmt::format("{}m", count);
}

std::string byte_quantity(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  return in_largest_unit(bytes, kUnits);
}

std::string without_references(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const bool begins_one = i + 1 < text.size() && (text[i + 1] == '$' || text[i + 1] == '(');
    if (text[i] == '$' && begins_one) out += '$';
  }
  return out;
}

void plan_port_names(KubernetesPod& pod) {
  for (const Container* container : all_containers(pod.translation.pod()))
    for (const Port& port : container->ports) {
      std::string& name = pod.port_names[&port];
      if (port.name.empty() || is_port_name(port.name))
        name = port.name;
      else
        pod.translation.lose(port.place, "name",
                             "the name of a port must be at most 15 lower-case letters, digits and "
                             "\"-\", not \"{}\"",
                             port.name);
    }
}

}  // namespace ocirun::pods
