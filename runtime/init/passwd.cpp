#include "runtime/init/passwd.hpp"

#include <fcntl.h>

#include <array>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMaxPasswd = 1024 * 1024;
enum { kName, kPassword, kUid, kGid, kComment, kHome, kFields };

}  // namespace

std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid) {
  std::vector<PasswdEntry> found;
  const auto text = linux::read_file(Fd{AT_FDCWD}, "/etc/passwd", kMaxPasswd);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::string_view line = linux::cut(rest, '\n');
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) field = linux::cut(line, ':');
    const auto entry = Uid::parse(fields[kUid]);
    if (entry && entry->value() == uid)
      found.push_back({std::string(fields[kName]), std::string(fields[kHome])});
  }
  return found;
}

}  // namespace ocirun::runtime
