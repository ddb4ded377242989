#include <algorithm>
#include <set>

#include "linux/base/text.hpp"
#include "pods/export/kubernetes.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// 1 to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends.
bool is_qualified_name(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  return !text.empty() && text.size() <= kLongest && is_word_character(text.front()) &&
         is_word_character(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_word_character(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

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

bool is_label_key(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_qualified_name(text);
  const std::string_view domain = text.substr(0, slash);
  return domain.size() <= kLongest && is_qualified_name(text.substr(slash + 1)) &&
         std::ranges::all_of(linux::split(domain, '.'), is_dns_label);
}

bool is_label_value(std::string_view text) { return text.empty() || is_qualified_name(text); }

bool is_port_name(std::string_view text) {
  constexpr std::size_t kLongest = 15;
  return is_dns_label(text) && text.size() <= kLongest && !text.contains("--") &&
         std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
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
