#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::hooks {

/// The six kinds, in the order of a container's life (H-1).
enum class Kind {
  kPrestart,
  kCreateRuntime,
  kCreateContainer,
  kStartContainer,
  kPoststart,
  kPoststop
};
inline constexpr std::array kKinds{Kind::kPrestart,        Kind::kCreateRuntime,
                                   Kind::kCreateContainer, Kind::kStartContainer,
                                   Kind::kPoststart,       Kind::kPoststop};
std::string_view config_name(Kind kind);  // "createRuntime"

struct Hook {
  HostPath path;                                // absolute (H-2)
  std::vector<std::string> args;                // argv with argv[0]; empty: {path} (H-3)
  std::optional<std::vector<std::string>> env;  // absent: Context::default_env (H-4, SD-17)
  std::optional<std::chrono::seconds> timeout;  // > 0 (H-5)
};

/// All hooks of a container, by kind.
class Hooks {
 public:
  std::vector<Hook>& of(Kind kind) { return lists_[static_cast<std::size_t>(kind)]; }
  const std::vector<Hook>& of(Kind kind) const { return lists_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<std::vector<Hook>, kKinds.size()> lists_;
};

}  // namespace ocirun::hooks
