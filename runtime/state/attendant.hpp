#pragma once

#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// `error` of Store::create(): where the id belongs to a container that a foreground `run`
/// attended, and that `run` was killed, a sentence says so, and what removes the container. Nobody
/// removes it by itself: a command that is killed cannot, and its container is worth more than its
/// id.
Error explain_taken_id(const Store& store, const ContainerId& id, Error error);

}  // namespace ocirun::runtime
