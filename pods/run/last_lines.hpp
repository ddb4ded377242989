#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Tells what a container has written last.
using LastLines =
    std::function<void(const std::string& container, const std::vector<std::string>& lines)>;

/// Tells the last ten lines of each container that has kept a pod from its start: one whose program
/// has run and is not ready, and an init container that has failed. `tell` may be empty.
void tell_last_lines(const PodRecord& record, const LastLines& tell);

}  // namespace ocirun::pods
