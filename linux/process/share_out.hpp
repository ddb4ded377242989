#pragma once

#include <cstddef>
#include <functional>

namespace ocirun::linux {

/// Calls `work(begin, end)` for shares that together are 0 to `count`, at the same time: the first
/// share in the caller's thread, each other share in a new thread with a stack of 512 KiB. Returns
/// after the last call has returned. There are as many shares as CPUs that this process may use,
/// but at most 8, and none has fewer than kLeastShare items unless there is only one share. For a
/// share whose thread cannot be made, or whose `work` throws std::bad_alloc, `work` is called in
/// the caller's thread when all other calls have returned. Errors: std::bad_alloc of such a last
/// call. `work` must not throw anything else.
void share_out(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

inline constexpr std::size_t kLeastShare = 64;

}  // namespace ocirun::linux
