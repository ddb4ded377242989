#pragma once

#include <optional>
#include <string>

#include "linux/base/paths.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// Who runs a bundle. An ordinary user runs it in a user namespace of the pod, which then stands in
/// for the bundle's.
enum class BundleRunner : std::uint8_t { kRoot, kOrdinaryUser };

/// Reads BUNDLE/config.json as a workload of one container that keeps the Knative contract: one
/// inbound port (KN-3), which is PORT of /process/env, else --port, else 8080 (KN-1); a TCP probe
/// of the port (KN-5). `bundle` must be absolute. The workload's `problems` stay empty. Errors:
/// those of read_config_file() and parse_config(); no program; a terminal (KN-12); a PORT that is
/// no port, or not that of --port.
Result<Workload> read_bundle(const HostPath& bundle, const std::string& pod_name,
                             const Given& given, BundleRunner runner);

/// The network namespace that a workload of read_bundle() names: nothing is one of its own, "" the
/// host's, else the path of another.
std::optional<std::string> network_of_bundle(const Workload& workload);

}  // namespace ocirun::pods
