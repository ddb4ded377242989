// `linux.devices` and `linux.netDevices` (docs/requirements.md: L-20 … L-29).

#include <sys/stat.h>

#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

std::optional<linux::Device::Kind> device_kind(std::string_view name) {
  if (name == "c" || name == "u")
    return linux::Device::Kind::kCharacter;  // L-20: "u" is an unbuffered character device
  if (name == "b") return linux::Device::Kind::kBlock;
  if (name == "p") return linux::Device::Kind::kFifo;
  return {};
}
std::vector<std::string_view> device_kinds() { return {"c", "b", "u", "p"}; }

/// L-23: reads permission bits. Some clients send a whole st_mode: read_mode() accepts and drops
/// the file type of a device or a FIFO.
bool read_mode(Value at, linux::Device& out) {
  constexpr mode_t kMostMode = 0177777;
  mode_t mode = 0;
  if (!range(0, kMostMode)(at, mode)) return false;
  const mode_t type = mode & S_IFMT;
  if ((mode & ~(S_IFMT | mode_t{0777})) != 0 ||
      (type != 0 && type != S_IFCHR && type != S_IFBLK && type != S_IFIFO)) {
    at.problem("must be permission bits from 0 to 511 (octal 0777), not {}", mode);
    return false;
  }
  out.mode = mode & mode_t{0777};
  return true;
}

// Linux keeps 12 bits of a major and 20 bits of a minor number.
constexpr Range kMajor = range(0, 4095);
constexpr Range kMinor = range(0, 1048575);

constexpr auto kDevice = checked(
    fields<linux::Device>(
        required("type", &linux::Device::kind, word("device type", device_kind, device_kinds)),
        required("path", &linux::Device::path, absolute_path),                       // L-21
        field("major", &linux::Device::major, kMajor),                               // L-22
        field("minor", &linux::Device::minor, kMinor), part("fileMode", read_mode),  //
        field("uid", &linux::Device::uid, uid),                                      // L-24
        field("gid", &linux::Device::gid, gid)),
    [](Value at, const linux::Device& device) {
      if (device.kind == linux::Device::Kind::kFifo) return;
      for (const char* name : {"major", "minor"})
        if (!at.member(name))
          at.problem_at(name, "is missing, it is required unless type is \"p\"");
    });

constexpr std::string_view kNameRule =
    "1 to 15 bytes without \"/\", \":\" and blanks, not \".\" or \"..\"";

bool read_net_device(Value at, linux::NetDevice& out) {
  std::string name;
  constexpr auto kFields = fields<std::string>(
      part("name", [](Value member, std::string& text_out) { return text(member, text_out); }));
  if (!kFields(at, name)) return false;
  out.host_name = at.key();
  if (!linux::is_valid_interface_name(out.host_name) || out.host_name.contains('%')) {
    at.problem("{} is no name of a network device: {}", in_quotes(at.key()), kNameRule);
    return false;
  }
  out.container_name = name.empty() ? out.host_name : name;
  if (linux::is_valid_interface_name(out.container_name)) return true;
  at.problem_at("name", "{} is no name for a network device: {}; at most one \"%d\"",
                in_quotes(name), kNameRule);
  return false;
}

}  // namespace

bool read_device(Value at, linux::Device& out) { return kDevice(at, out); }

bool read_net_devices(Value at, std::vector<linux::NetDevice>& out) {  // L-29
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value item : at)
    if (!item.is_null()) good &= read_net_device(item, out.emplace_back());
  return good;
}

}  // namespace ocirun::bundle
