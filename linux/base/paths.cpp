#include "linux/base/paths.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "linux/base/text.hpp"

namespace ocirun::linux {

Result<HostPath> absolute_path(const std::string& path) {
  std::string whole;
  if (!path.starts_with('/')) {
    std::array<char, PATH_MAX> directory;
    if (::getcwd(directory.data(), directory.size()) == nullptr)
      return fail(errno, "find the working directory");
    whole = directory.data();
  }
  whole += "/" + path;
  std::string clean;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::string_view part = cut(rest, '/');
    if (!part.empty() && part != ".") clean.append("/").append(part);
  }
  return HostPath(clean.empty() ? "/" : clean);
}

}  // namespace ocirun::linux
