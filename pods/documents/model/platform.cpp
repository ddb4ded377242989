#include "pods/documents/model/platform.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// Names of machines: the kernel's, and Go's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kArchitectures{{
    {"x86_64", "amd64"},
    {"i686", "386"},
    {"aarch64", "arm64"},
    {"armv7l", "arm"},
    {"armv6l", "arm"},
    {"riscv64", "riscv64"},
    {"ppc64le", "ppc64le"},
    {"s390x", "s390x"},
    {"loongarch64", "loong64"},
    {"mips64", "mips64"},
}};

/// The number of a variant, 7 for "v7". An image without a variant is for the lowest level that
/// distributions build for.
int level(const Platform& platform) {
  if (platform.variant.starts_with('v'))
    return linux::number<int>(std::string_view(platform.variant).substr(1)).value_or(-1);
  if (!platform.variant.empty()) return -1;
  return platform.architecture == "arm64" ? 8 : platform.architecture == "arm" ? 7 : 1;
}

}  // namespace

Platform Platform::host() {
  Platform host{"linux", "", ""};
  struct utsname names{};
  if (::uname(&names) != 0) return host;
  const std::string_view machine = names.machine;
  const auto row =
      std::ranges::find(kArchitectures, machine, [](const auto& entry) { return entry.first; });
  host.architecture = row == kArchitectures.end() ? machine : row->second;
  if (host.architecture == "arm64") host.variant = "v8";
  if (host.architecture == "arm") host.variant = machine == "armv6l" ? "v6" : "v7";
  return host;
}

std::string Platform::text() const {
  return os + "/" + architecture + (variant.empty() ? "" : "/" + variant);
}

int suitability(const Platform& image, const Platform& machine) {
  if (image.os != machine.os || image.architecture != machine.architecture) return 0;
  const int wanted = level(image);
  if (wanted < 0) return image.variant == machine.variant ? 1 : 0;
  return wanted <= level(machine) ? 1 + wanted : 0;
}

}  // namespace ocirun::pods
