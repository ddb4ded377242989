#pragma once

#include <optional>
#include <string>

#include "linux/base/paths.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// Who runs a bundle. kOrdinaryUser: the user namespace of the pod replaces the one of the bundle.
enum class BundleRunner : std::uint8_t { kRoot, kOrdinaryUser };

/// Reads config.json of the bundle at the absolute path `bundle` as a workload with one container
/// that keeps the Knative contract. The container has one inbound port (KN-3): PORT of
/// /process/env, else --port, else 8080 (KN-1). A TCP probe asks the port (KN-5). The workload has
/// no `problems`. Errors: those of read_config_file() and parse_config(); no program; a terminal
/// (KN-12); a PORT that is no port, or differs from --port.
Result<Workload> read_bundle(const HostPath& bundle, const std::string& pod_name,
                             const Given& given, BundleRunner runner);

/// The network that the bundle of a workload of read_bundle() asks for. Returns nothing for a
/// network namespace of its own; "" for the host's; else the path of a network namespace.
std::optional<std::string> network_of_bundle(const Workload& workload);

}  // namespace ocirun::pods
