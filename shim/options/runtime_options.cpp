#include "shim/options/runtime_options.hpp"

#include <fcntl.h>
#include <options.pb-c.h>

#include "linux/base/file_io.hpp"
#include "shim/messages/message.hpp"
#include "shim/options/toml.hpp"

namespace ocirun::shim {

template <>
inline constexpr const ProtobufCMessageDescriptor* kDescriptor<Shimoptions__ConfiguredOptions> =
    &shimoptions__configured_options__descriptor;

namespace {

constexpr std::size_t kMostConfiguration = std::size_t{1} << 20;

RuntimeOptions options_of(const Shim__Options& message) {
  return {.no_pivot_root = message.no_pivot_root != 0,
          .no_new_keyring = message.no_new_keyring != 0,
          .systemd_cgroup = message.systemd_cgroup != 0,
          .shim_cgroup = message.shim_cgroup,
          .binary_name = message.binary_name,
          .root = message.root,
          .criu_image_path = message.criu_image_path,
          .criu_work_path = message.criu_work_path,
          .io_uid = message.io_uid,
          .io_gid = message.io_gid};
}

/// Reads the TOML file that containerd's configuration names as ConfigPath.
Result<RuntimeOptions> read_configuration(const std::string& path) {
  if (!path.starts_with('/'))
    return refuse("the runtime's ConfigPath \"{}\": must be an absolute path", path);
  OCIRUN_TRY_ASSIGN(
      const std::string text,
      within(linux::read_file(Fd{AT_FDCWD}, path, kMostConfiguration), "the runtime's ConfigPath"));
  return parse_toml_options(text, path);
}

Result<RuntimeOptions> options_of(const Shimoptions__ConfiguredOptions& message) {
  const std::string path = message.config_path;
  if (!path.empty()) return read_configuration(path);
  return parse_toml_options(bytes_of(message.config_body), "the runtime's options");
}

}  // namespace

Result<RuntimeOptions> parse_options(std::string_view type_url, std::string_view value) {
  if (type_url.empty()) return RuntimeOptions();
  if (type_url == kRuncOptions) {
    if (const auto message = Received<Shim__Options>::read(value)) return options_of(**message);
  } else if (type_url == kConfiguredOptions) {
    if (const auto message = Received<Shimoptions__ConfiguredOptions>::read(value))
      return options_of(**message);
  } else {
    return refuse(
        "options of the type \"{}\": must be {} or {}; change the runtime's options in "
        "containerd's configuration",
        type_url, kRuncOptions, kConfiguredOptions);
  }
  return refuse("options of the type {}: the {} bytes are no such message", type_url, value.size());
}

}  // namespace ocirun::shim
