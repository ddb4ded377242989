#pragma once

#include <map>
#include <string>
#include <vector>

#include "pods/documents/model/pod.hpp"
#include "pods/images/image_config.hpp"
#include "pods/prepare/plan/accounts.hpp"
#include "pods/prepare/plan/bindings.hpp"

namespace ocirun::pods {

/// How the program of a container is started, merged from the configuration of the image and the
/// document (image-spec, conversion.md).
struct Launch {
  std::vector<std::string> args;  // at least one
  std::vector<std::string> env;   // "NAME=value", each name once
  std::string cwd;                // absolute
  Account account;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> left_out_labels;  // of the image, with a name of ocirun's annotations
  std::vector<std::string> volumes;          // paths at which the image wants a volume
  std::string stop_signal;                   // "": SIGTERM
};

/// Merges the document's container with the configuration of its image, whose root filesystem is
/// `root`. The document takes precedence. Errors: neither has a program; an unknown user or group;
/// the user is root and the document forbids root; a missing secret; a relative working directory;
/// a volume of the image without a usable path.
Result<Launch> merge_launch(const Pod& pod, const Container& container, const ImageConfig& image,
                            const Bindings& bindings, const linux::SafeDir& root);

}  // namespace ocirun::pods
