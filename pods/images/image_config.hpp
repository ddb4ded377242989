#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pods/images/manifest.hpp"

namespace ocirun::pods {

/// How the image wants its process to be started (config.md, `config`). The values are not compared
/// with the image's files.
struct ProcessDefaults {
  std::string user;                        // "", "USER", "UID:GID", …
  std::vector<std::string> exposed_ports;  // "80/tcp", in the document's order
  std::vector<std::string> env;            // "NAME=value"
  std::vector<std::string> entrypoint, cmd;
  std::vector<std::string> volumes;  // paths
  std::string working_dir;
  Annotations labels;
  std::string stop_signal;  // "SIGTERM", "15", …
};

/// One step of the image's history; docker's tools fill it.
struct History {
  std::string created, created_by, author, comment;
  bool empty_layer = false;
};

/// The configuration of an image (config.md), or docker's.
struct ImageConfig {
  Platform platform;
  std::string created, author;
  ProcessDefaults config;
  std::vector<Digest> diff_ids;  // of the uncompressed layers, the base layer first
  std::vector<History> history;
};

/// Reads the configuration of an image. `what` names the document in errors. Errors: those of the
/// JSON reader; a missing os or architecture; a `rootfs.type` that is not "layers"; a diff_id that
/// is no digest.
Result<ImageConfig> parse_image_config(std::string_view what, std::string_view text);

/// Computes the chain ids of the layers (config.md#layer-chainid). A chain id names a layer
/// together with all layers below.
std::vector<Digest> chain_ids(const std::vector<Digest>& diff_ids);

}  // namespace ocirun::pods
