#pragma once

#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Explains an error of Store::create() whose cause is a taken id. If the id belongs to a container
/// of a foreground `run` that was killed, the returned error says so and names the command that
/// removes the container. Every other error is returned as it is. ocirun does not remove such a
/// container by itself, because the container may still do useful work.
Error explain_taken_id(const Store& store, const ContainerId& id, Error error);

}  // namespace ocirun::runtime
