#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/run/sandbox/network.hpp"
#include "pods/state/request.hpp"

namespace ocirun::pods {

/// Whether `run` replaces a pod that has the name already. kIfOther (--replace): unless that pod
/// runs well and comes from the same document and options. kAlways (--replace=always, `restart`).
enum class Replace : std::uint8_t { kNo, kIfOther, kAlways };

/// The settings of `ocirun pod run`.
struct Settings {
  HostPath data;                     // --data
  std::vector<std::string> runtime;  // the path of the runtime, and the options before its commands
  std::string name;                  // of the pod
  NetworkChoice network;
  std::chrono::seconds grace{30};  // between the signal that asks a container to stop and SIGKILL
  std::string log_directory;       // --log-dir; "": in the pod's directory
  RunRequest request;              // for `start` and `restart`
  Replace replace = Replace::kNo;  // --replace
  std::optional<std::chrono::seconds> grace_of_old;  // to stop the old pod; nothing: its own
  std::vector<std::string> shape;  // the words of the options that shape the pod, for --replace
  bool has_metadata = false;       // --metadata
  bool systemd_cgroups = false;    // the runtime was told to use systemd
  std::optional<std::chrono::seconds> ready_within;  // --wait-ready
};

}  // namespace ocirun::pods
