// The device nodes of the container: those of the document, and the default devices.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/inspect/places.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;

/// Whether /dev is a directory of the host: it has the nodes that it has.
bool has_bind_on_dev(const bundle::Config& config) {
  return std::ranges::any_of(config.mounts, [](const linux::Mount& mount) {
    return mount.bind && linux::is_dev_directory(clean(mount.destination));
  });
}

bool is_of_document(const bundle::Config& config, const linux::Device& device) {
  return std::ranges::any_of(config.devices, [&](const linux::Device& other) {
    return clean(other.path) == clean(device.path);
  });
}

std::string device_text(char kind, std::int64_t major, std::int64_t minor) {
  return kind == 'p' ? "fifo" : fmt::format("{} {}:{}", kind, major, minor);
}

std::string device_text(const Found& found) {
  const auto number = static_cast<dev_t>(found.device);
  const char kind = S_ISCHR(found.mode)    ? 'c'
                    : S_ISBLK(found.mode)  ? 'b'
                    : S_ISFIFO(found.mode) ? 'p'
                                           : '?';
  return kind == '?' ? "no device"
                     : device_text(kind, gnu_dev_major(number), gnu_dev_minor(number));
}

Row device_row(const Places& places, const linux::Device& device, const std::string& what) {
  const std::string path = clean(device.path);
  const std::string asked = device_text(static_cast<char>(device.kind), device.major, device.minor);
  Row row{what + " " + path, asked, "", Verdict::kUnknown};
  const Found* const found = places.in_container(path);
  if (found == nullptr) {
    row.found = places.is_missing(path) ? "no such file" : kHangs;
    if (places.is_missing(path)) row.verdict = Verdict::kDrift;
    return row;
  }
  row = compared(row.what, asked, device_text(*found));
  // A node that is bound from the host keeps the host's mode.
  const bool is_bound = places.inside().at(places.resolved(path)) != nullptr;
  const mode_t mode = found->mode & 07777U;
  if (row.verdict == Verdict::kAsAsked && device.mode && !is_bound && mode != *device.mode) {
    row.asked += fmt::format(" mode {:04o}", *device.mode);
    row.found += fmt::format(" mode {:04o}", mode);
    row.verdict = Verdict::kDrift;
  }
  return row;
}

}  // namespace

Rows inspect_devices(const bundle::Config& config, const Places& places) {
  Rows rows;
  for (std::size_t index = 0; index < config.devices.size(); ++index)
    rows.push_back(
        device_row(places, config.devices[index], fmt::format("/linux/devices/{}", index)));
  if (has_bind_on_dev(config)) return rows;
  for (const linux::Device& device : linux::default_devices())
    if (!is_of_document(config, device))
      rows.push_back(device_row(places, device, "default device"));
  return rows;
}

}  // namespace ocirun::runtime
