#include "cgroups/plan/plan.hpp"

#include <fmt/format.h>

namespace ocirun::cgroups {
namespace {

constexpr std::string_view kBlockIo = "/linux/resources/blockIO";

struct Throttle {
  std::vector<ThrottleDevice> BlockIo::* devices;
  const char* field;
  const char* v1_file;
  const char* v2_key;  // in io.max
};
constexpr Throttle kThrottles[] = {
    {&BlockIo::read_bps, "throttleReadBpsDevice", "blkio.throttle.read_bps_device", "rbps"},
    {&BlockIo::write_bps, "throttleWriteBpsDevice", "blkio.throttle.write_bps_device", "wbps"},
    {&BlockIo::read_iops, "throttleReadIOPSDevice", "blkio.throttle.read_iops_device", "riops"},
    {&BlockIo::write_iops, "throttleWriteIOPSDevice", "blkio.throttle.write_iops_device", "wiops"},
};

}  // namespace

Result<void> plan_block_io_v1(const Resources& resources, Writes& writes) {
  if (!resources.block_io) return {};
  const BlockIo& io = *resources.block_io;
  // Writes a weight to the file of CFQ (before Linux 5.0) or, if the file is missing, to the file
  // of BFQ. BFQ has no file for leaf weights.
  const auto weight = [&](std::string value, std::string pointer, const char* file,
                          std::string bfq_file) {
    writes.push_back({.controller = "blkio",
                      .file = file,
                      .value = value,
                      .pointer = std::move(pointer),
                      .other_file = bfq_file,
                      .other_value = bfq_file.empty() ? "" : value});
  };
  if (io.weight.value_or(0) != 0)
    weight(fmt::to_string(*io.weight), fmt::format("{}/weight", kBlockIo), "blkio.weight",
           "blkio.bfq.weight");
  if (io.leaf_weight.value_or(0) != 0)
    weight(fmt::to_string(*io.leaf_weight), fmt::format("{}/leafWeight", kBlockIo),
           "blkio.leaf_weight", "");
  for (std::size_t i = 0; i < io.weight_devices.size(); ++i) {
    const WeightDevice& device = io.weight_devices[i];
    const std::string number = fmt::format("{}:{}", device.major, device.minor);
    const std::string pointer = fmt::format("{}/weightDevice/{}", kBlockIo, i);
    if (device.weight.value_or(0) != 0)
      weight(fmt::format("{} {}", number, *device.weight), pointer + "/weight",
             "blkio.weight_device", "blkio.bfq.weight_device");
    if (device.leaf_weight.value_or(0) != 0)
      weight(fmt::format("{} {}", number, *device.leaf_weight), pointer + "/leafWeight",
             "blkio.leaf_weight_device", "");
  }
  for (const Throttle& throttle : kThrottles) {
    const std::vector<ThrottleDevice>& devices = io.*throttle.devices;
    for (std::size_t i = 0; i < devices.size(); ++i)
      writes.push_back(
          {.controller = "blkio",
           .file = throttle.v1_file,
           .value = fmt::format("{}:{} {}", devices[i].major, devices[i].minor, devices[i].rate),
           .pointer = fmt::format("{}/{}/{}", kBlockIo, throttle.field, i),
           .if_missing = devices[i].rate == 0 ? IfMissing::kPassOver : IfMissing::kError});
  }
  return {};
}

Result<void> plan_block_io_v2(const Resources& resources, Writes& writes) {
  if (!resources.block_io) return {};
  const BlockIo& io = *resources.block_io;
  const auto refuse_leaf = [](const std::string& pointer) {
    return refuse("{}: cgroup v2 has no leaf weights; leave it out or give 0", pointer);
  };
  // io.bfq.weight takes the weights of cgroup v1. io.weight (of io.cost) has another range.
  const auto weight = [&](const std::string& device, std::uint16_t value, std::string pointer) {
    writes.push_back({.controller = "io",
                      .file = "io.bfq.weight",
                      .value = device + fmt::to_string(value),
                      .pointer = std::move(pointer),
                      .other_file = "io.weight",
                      .other_value = device + fmt::to_string(io_weight(value))});
  };
  if (io.leaf_weight.value_or(0) != 0) return refuse_leaf(fmt::format("{}/leafWeight", kBlockIo));
  if (io.weight.value_or(0) != 0) weight("", *io.weight, fmt::format("{}/weight", kBlockIo));
  for (std::size_t i = 0; i < io.weight_devices.size(); ++i) {
    const WeightDevice& device = io.weight_devices[i];
    const std::string pointer = fmt::format("{}/weightDevice/{}", kBlockIo, i);
    if (device.leaf_weight.value_or(0) != 0) return refuse_leaf(pointer + "/leafWeight");
    if (device.weight.value_or(0) != 0)
      weight(fmt::format("{}:{} ", device.major, device.minor), *device.weight,
             pointer + "/weight");
  }
  // A write to io.max keeps the rates that the write does not name. So each rate gets one write.
  for (const Throttle& throttle : kThrottles) {
    const std::vector<ThrottleDevice>& devices = io.*throttle.devices;
    for (std::size_t i = 0; i < devices.size(); ++i)
      writes.push_back(
          {.controller = "io",
           .file = "io.max",
           .value = fmt::format("{}:{} {}={}", devices[i].major, devices[i].minor, throttle.v2_key,
                                devices[i].rate == 0 ? "max" : fmt::to_string(devices[i].rate)),
           .pointer = fmt::format("{}/{}/{}", kBlockIo, throttle.field, i),
           .if_missing = devices[i].rate == 0 ? IfMissing::kPassOver : IfMissing::kError});
  }
  return {};
}

}  // namespace ocirun::cgroups
