#pragma once

#include <vector>

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Whether an extended resource of OAM can be a number of CDI devices: its name is a kind of
/// devices, and it requires a whole number.
bool may_be_devices(const ExtendedResource& resource);

/// For Fields::beside() of Kubernetes' limits and requests: whether the name of the member is a
/// kind of devices, such as "vendor.com/gpu". Reports a value that is no whole number.
bool is_device_amount(Value member);

/// Reads the devices of `resources`, an object with the members limits and requests of Kubernetes.
/// Ignores a number of 0. Reports a request without a limit, and one that differs from the limit.
bool device_requests(Value resources, std::vector<DeviceRequest>& out);

}  // namespace ocirun::pods
