#include "runtime/protocol/hook_times.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

bool may_be_time(std::string_view text) {
  constexpr std::size_t kLongest = 20;
  return !text.empty() && text.size() <= kLongest &&
         text.find_first_not_of("0123456789-:.TZ") == text.npos;
}

}  // namespace

std::string hook_times(std::span<const hooks::HookRun> runs) {
  std::string text;
  for (const hooks::HookRun& run : runs)
    text += fmt::format("{} {}\n", run.started, run.lasted.count());
  return text;
}

std::vector<hooks::HookRun> parse_hook_times(std::string_view text, const hooks::Hooks& hooks,
                                             hooks::Kind kind) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 48;  // milliseconds: some 9,000 years
  std::vector<hooks::HookRun> runs;
  for (std::string_view line : linux::words(text, '\n')) {
    if (runs.size() == hooks.of(kind).size()) break;
    const std::string_view started = linux::cut(line, ' ');
    const auto lasted = linux::number(line);
    if (!may_be_time(started) || !lasted || *lasted > kLongest) continue;
    using std::chrono::milliseconds;
    runs.push_back({.kind = kind,
                    .index = runs.size(),
                    .started = std::string(started),
                    .lasted = milliseconds(static_cast<milliseconds::rep>(*lasted))});
  }
  return runs;
}

}  // namespace ocirun::runtime
