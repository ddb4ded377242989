#include "linux/files/mountinfo.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {

std::optional<MountEntry> next_mount(std::string_view& rest) {
  constexpr std::string_view kDash = " - ";  // after a variable number of fields
  while (!rest.empty()) {
    std::string_view mount = cut(rest, '\n');
    const std::size_t dash = mount.find(kDash);
    if (dash == std::string_view::npos) continue;
    std::string_view filesystem = mount.substr(dash + kDash.size());
    mount = mount.substr(0, dash);
    MountEntry entry;
    entry.id = number(cut(mount, ' ')).value_or(0);
    entry.parent = number(cut(mount, ' ')).value_or(0);
    entry.device = cut(mount, ' ');
    entry.root = cut(mount, ' ');
    entry.mount_point = cut(mount, ' ');
    entry.attributes = cut(mount, ' ');
    entry.propagation = mount;
    entry.type = cut(filesystem, ' ');
    cut(filesystem, ' ');
    entry.options = cut(filesystem, ' ');
    if (!entry.mount_point.empty() && !entry.type.empty()) return entry;
  }
  return std::nullopt;
}

std::string unescape_path(std::string_view written) {
  const auto octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '\\' && i + 3 < written.size() && octal(written[i + 1]) &&
        octal(written[i + 2]) && octal(written[i + 3])) {
      plain += static_cast<char>((written[i + 1] - '0') * 64 + (written[i + 2] - '0') * 8 +
                                 (written[i + 3] - '0'));
      i += 3;
    } else {
      plain += written[i];
    }
  }
  return plain;
}

Result<std::uint64_t> mount_of(const Procfs& procfs, Fd file) {
  OCIRUN_TRY_ASSIGN(const std::string info, procfs.read(fmt::format("self/fdinfo/{}", file.value)));
  for (std::string_view line : words(info, '\n'))
    if (cut(line, ':') == "mnt_id") {
      while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
      return number(line).value_or(0);
    }
  return fail(EBADMSG, "fdinfo has no mnt_id");
}

Result<std::string> read_mountinfo(const Procfs& procfs) {
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  OCIRUN_TRY_ASSIGN(const UniqueFd file, procfs.open_file("self/mountinfo", O_RDONLY));
  return within(sys::read_all(file, kLimit), "/proc/self/mountinfo");
}

}  // namespace ocirun::linux
