#pragma once

#include <cstdint>
#include <string_view>

#include "linux/base/name_table.hpp"

namespace ocirun::bundle {

/// The `status` of runtime.md#state, and `paused` as an additional value. kUnknown: the state
/// directory holds no file that can be read as a record.
enum class Status : std::uint8_t { kCreating, kCreated, kRunning, kPaused, kStopped, kUnknown };

inline constexpr linux::Named<Status> kStatusNames[] = {
    {"creating", Status::kCreating}, {"created", Status::kCreated}, {"running", Status::kRunning},
    {"paused", Status::kPaused},     {"stopped", Status::kStopped}, {"unknown", Status::kUnknown},
};
constexpr std::string_view status_name(Status status) { return name_of(kStatusNames, status); }

}  // namespace ocirun::bundle
