#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::shim {

/// The options of a runtime in containerd's configuration, or in a client's request.
struct RuntimeOptions {
  bool no_pivot_root = false;
  bool no_new_keyring = false;
  bool systemd_cgroup = false;
  std::string shim_cgroup;      // the cgroup of the shim; "": that of containerd
  std::string binary_name;      // the runtime: a path, or a name in PATH; "": ocirun
  std::string root;             // the directory above the runtime's --root; "": the default
  std::string criu_image_path;  // for a checkpoint whose request names no directory of images
  std::string criu_work_path;   // "": BUNDLE/work
  std::uint32_t io_uid = 0;     // the owner of the streams of a process
  std::uint32_t io_gid = 0;
};

/// The two kinds of options, as the type_url of an Any names them.
inline constexpr std::string_view kRuncOptions = "containerd.runc.v1.Options";
inline constexpr std::string_view kConfiguredOptions = "runtimeoptions.v1.Options";

/// Reads the options in an Any. kRuncOptions: the members are fields of the message.
/// kConfiguredOptions, which containerd sends for a runtime name other than io.containerd.runc.v2:
/// the members are keys of a TOML document, such as SystemdCgroup, at the top level or in the table
/// `options`, in letters of either case. The document is a field of the message, or a file of at
/// most 1 MiB. Unknown keys are ignored, because containerd's own configuration has more. A
/// `type_url` of "" gives the defaults. Errors: another `type_url`; no such message; no TOML; a
/// value of a wrong type; the file cannot be read.
Result<RuntimeOptions> parse_options(std::string_view type_url, std::string_view value);

}  // namespace ocirun::shim
