#include "runtime/passwd.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "linux/file_io.hpp"
#include "linux/ids.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMaxPasswd = 1024 * 1024;
enum { kName, kPassword, kUid, kGid, kComment, kHome, kFields };

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid) {
  std::vector<PasswdEntry> found;
  const auto text = linux::read_file(Fd{AT_FDCWD}, "/etc/passwd", kMaxPasswd);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::string_view line = cut(rest, '\n');
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) field = cut(line, ':');
    const auto entry = Uid::parse(fields[kUid]);
    if (entry && entry->value() == uid)
      found.push_back({std::string(fields[kName]), std::string(fields[kHome])});
  }
  return found;
}

}  // namespace ocirun::runtime
