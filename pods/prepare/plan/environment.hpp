#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pods/prepare/plan/bindings.hpp"

namespace ocirun::pods {

/// Variables in the order in which they were first set, with the last value of each name.
class Environment {
 public:
  void set(std::string_view name, std::string_view value);
  /// `entry`: "NAME=value".
  void set_entry(std::string_view entry);
  void set_all(const Environment& other);

  const Variables& variables() const { return values_; }
  /// "NAME=value" of each.
  std::vector<std::string> entries() const;
  /// The bytes that the entries take of linux::ExecLimits::all.
  std::size_t cost() const { return cost_; }

 private:
  std::vector<std::string> order_;  // of the names
  Variables values_;
  std::size_t cost_ = 0;
};

}  // namespace ocirun::pods
