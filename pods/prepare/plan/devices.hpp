#pragma once

#include "bundle/json/writer.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// The environment of `plan`, in which the variables of its devices take the place of others.
std::vector<std::string> env_with_devices(const BundlePlan& plan);
/// The supplementary groups of `plan`, with those of its devices.
std::vector<Gid> groups_with_devices(const BundlePlan& plan);

/// The mounts of the devices of `plan`, and the binds of the host's nodes where no node can be
/// made.
std::vector<DeviceMount> mounts_of_devices(const BundlePlan& plan);

/// Writes linux.devices, and linux.intelRdt.
void write_devices(bundle::JsonWriter& out, const BundlePlan& plan);
/// Writes the items of linux.resources.devices that allow the nodes.
void write_device_rules(bundle::JsonWriter& out, const BundlePlan& plan);
/// Writes the member `hooks`.
void write_hooks(bundle::JsonWriter& out, const BundlePlan& plan);

}  // namespace ocirun::pods
