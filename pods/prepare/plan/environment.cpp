#include "pods/prepare/plan/environment.hpp"

#include <fmt/format.h>

#include "linux/base/text.hpp"
#include "linux/process/exec_limits.hpp"

namespace ocirun::pods {

void Environment::set(std::string_view name, std::string_view value) {
  const auto [same, is_new] = values_.try_emplace(std::string(name));
  if (is_new) {
    order_.emplace_back(name);
    cost_ += linux::ExecLimits::cost(name.size() + 1);
  }
  cost_ += value.size();
  cost_ -= same->second.size();
  same->second = value;
}

void Environment::set_entry(std::string_view entry) {
  const std::string_view name = linux::cut(entry, '=');
  set(name, entry);
}

void Environment::set_all(const Environment& other) {
  for (const std::string& name : other.order_) set(name, other.values_.at(name));
}

std::vector<std::string> Environment::entries() const {
  std::vector<std::string> entries;
  for (const std::string& name : order_)
    entries.push_back(fmt::format("{}={}", name, values_.at(name)));
  return entries;
}

}  // namespace ocirun::pods
