#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/devices/registry.hpp"

namespace ocirun::pods {

/// How containers get device nodes. kMade: the runtime makes them. kBound: the runtime binds the
/// host's nodes, because the caller is root of a user namespace only.
enum class NodeOrigin : std::uint8_t { kMade, kBound };

/// Completes a device node with what the host's node says. Errors, with the place of the node: the
/// host has no node, and the specification does not say everything; the host's file is no device
/// node, or one of another type; for kBound, one with other numbers.
Result<ReadyNode> ready_node(const DeviceNode& node, NodeOrigin origin);

/// What the device is, whatever its name: the numbers of its own nodes. Two names with the same
/// identity are one device. A device without nodes is its full name. Errors: those of ready_node().
Result<std::string> identity_of(const FoundDevice& device);

/// Joins the edits of all `devices`. The edits that a CDI file has for all its devices come once,
/// before those of its first device. Of equal nodes, mounts or hooks, one stays. For kBound, warns
/// of the properties that a bound node cannot get. Errors: those of ready_node(); two different
/// nodes or mounts at one path; two different intelRdt.
Result<ReadyEdits> ready_edits(const std::vector<FoundDevice>& devices, NodeOrigin origin,
                               std::vector<std::string>& warnings);

}  // namespace ocirun::pods
