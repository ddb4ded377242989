#pragma once

#include <string>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// The path of CRIU's configuration file: the annotation org.criu.config names it, or else
/// /etc/criu/runc.conf is used if that file exists. "" for none. A path that is not absolute counts
/// as no annotation; check_config() has warned. The file may name programs of the host for CRIU to
/// execute, and tools make annotations of an image's labels. Errors: the path leads through a link
/// of /proc, or names no file; the file lies in the container's root or in the source of a writable
/// bind; others than root and the caller may write to it.
Result<std::string> config_file_of(const bundle::Config& config);

}  // namespace ocirun::runtime
