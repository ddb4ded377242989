#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/prepare/devices/spec.hpp"

namespace ocirun::pods {

/// The directories with CDI specifications. A later directory takes precedence.
struct DeviceDirectories {
  std::vector<std::string> paths = {"/etc/cdi", "/var/run/cdi"};
  bool may_be_absent = true;
};

/// A device, and the file that describes it.
struct FoundDevice {
  const CdiSpec* spec = nullptr;
  const CdiDevice* device = nullptr;
  /// "vendor.com/gpu=0"
  std::string full_name() const;
};

/// The CDI devices of the host. FoundDevice points into the registry.
class DeviceRegistry {
 public:
  /// Reads all files NAME.json and NAME.yaml of the directories. A file that cannot be used, or
  /// that users other than root can write, is in broken(). Errors: a directory is absent and must
  /// not be; a directory cannot be read; other users can write to it.
  static Result<DeviceRegistry> read(const DeviceDirectories& directories);

  const std::vector<BrokenSpec>& broken() const { return broken_; }
  /// Whether a file, even a broken one, is for devices of the kind.
  bool has_kind(std::string_view kind) const;
  /// The kinds of the class `name`, such as "gpu", in alphabetical order.
  std::vector<std::string> kinds_of_class(std::string_view name) const;

  /// Errors: a broken file has devices of the kind; there is no device of the kind, or no such
  /// device; two files of one directory describe the device.
  Result<FoundDevice> find(const std::string& kind, const std::string& name) const;
  /// The names of all devices of a kind, in the order of compare_device_names(). Errors: a broken
  /// file has devices of the kind; there is no device of the kind.
  Result<std::vector<std::string>> names(const std::string& kind) const;

 private:
  struct Ranked {
    CdiSpec spec;
    std::size_t directory;  // the index of the directory
  };

  Result<void> read_directory(const std::string& path, std::size_t index, bool may_be_absent);
  void read_file(Fd directory, const std::string& name, const std::string& path, std::size_t index);
  Result<void> check_kind(const std::string& kind) const;
  std::vector<std::string> names_of(const std::string& kind) const;

  std::vector<std::string> paths_;
  std::vector<Ranked> specs_;
  std::vector<BrokenSpec> broken_;
};

}  // namespace ocirun::pods
