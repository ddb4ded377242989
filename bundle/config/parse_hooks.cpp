// `hooks` (matrix H-1 … H-5).

#include "bundle/config/sections.hpp"

namespace ocirun::bundle {
namespace {

constexpr auto kHook =
    fields<hooks::Hook>(required("path", &hooks::Hook::path, absolute_path),          // H-2
                        field("args", &hooks::Hook::args, texts),                     // H-3
                        field("env", &hooks::Hook::env, list_of(environment_entry)),  // H-4
                        part("timeout", [](Value at, hooks::Hook& out) {              // H-5
                          std::int32_t seconds = 0;
                          if (!range(1, INT32_MAX)(at, seconds)) return false;
                          out.timeout = std::chrono::seconds(seconds);
                          return true;
                        }));

template <hooks::Kind kind>
bool read_list(Value at, hooks::Hooks& out) {
  return list_of(kHook)(at, out.of(kind));
}

constexpr auto kHooks = fields<hooks::Hooks>(  // H-1
    part("prestart", read_list<hooks::Kind::kPrestart>),
    part("createRuntime", read_list<hooks::Kind::kCreateRuntime>),
    part("createContainer", read_list<hooks::Kind::kCreateContainer>),
    part("startContainer", read_list<hooks::Kind::kStartContainer>),
    part("poststart", read_list<hooks::Kind::kPoststart>),
    part("poststop", read_list<hooks::Kind::kPoststop>));

}  // namespace

bool read_hooks(Value at, hooks::Hooks& out) { return kHooks(at, out); }

}  // namespace ocirun::bundle
