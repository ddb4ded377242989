#include "bundle/config/nearest_capability.hpp"

#include <algorithm>
#include <vector>

#include "bundle/json/report.hpp"
#include "linux/base/letters.hpp"
#include "linux/process/capabilities.hpp"

namespace ocirun::bundle {
namespace {

/// "NETADMIN" for "cap_net-admin": all that tells one capability from another.
std::string bare_name(std::string_view written) {
  std::string bare;
  for (const char c : written)
    if (c != '_' && c != '-') bare += linux::upper(c);
  if (bare.starts_with("CAP")) bare.erase(0, 3);
  return bare;
}

}  // namespace

std::string nearest_capability(std::string_view written) {
  const std::vector<std::string> names = linux::capability_names();
  std::vector<std::string> bare_names;
  for (const std::string& name : names) bare_names.push_back(bare_name(name));
  const std::vector<std::string_view> known(bare_names.begin(), bare_names.end());
  const std::string_view near = nearest(bare_name(written), known);
  if (near.empty()) return {};
  return names[static_cast<std::size_t>(std::ranges::find(known, near) - known.begin())];
}

}  // namespace ocirun::bundle
