#pragma once

#include <map>
#include <string>
#include <vector>

#include "pods/images/image_config.hpp"
#include "pods/model/pod.hpp"
#include "pods/plan/accounts.hpp"
#include "pods/plan/bindings.hpp"

namespace ocirun::pods {

/// How the program of a container is started: what the image's configuration and the document say
/// together (image-spec, conversion.md).
struct Launch {
  std::vector<std::string> args;  // at least one
  std::vector<std::string> env;   // "NAME=value", each name once
  std::string cwd;                // absolute
  Account account;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> left_out_labels;  // labels of the image that are no annotations
  std::vector<std::string> volumes;  // paths at which the image wants a directory of its own
  std::string stop_signal;           // "": SIGTERM
};

/// Merges the document's container with the configuration of its image, whose root filesystem is
/// `root`. What the document says is stronger. Errors: neither says a program; an unknown user or
/// group; root where the document forbids root; a missing secret; a relative working directory; a
/// volume of the image that is no path of its own.
Result<Launch> merge_launch(const Pod& pod, const Container& container, const ImageConfig& image,
                            const Bindings& bindings, const linux::SafeDir& root);

}  // namespace ocirun::pods
