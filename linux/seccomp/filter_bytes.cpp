#include "linux/seccomp/filter_bytes.hpp"

#include <cerrno>
#include <cstring>

namespace ocirun::linux {

std::string filter_bytes(const SeccompFilter& filter) {
  std::string bytes(sizeof(filter.flags) + 1 + filter.program.size() * sizeof(sock_filter), '\0');
  std::memcpy(bytes.data(), &filter.flags, sizeof(filter.flags));
  bytes[sizeof(filter.flags)] = filter.notify ? 1 : 0;
  std::memcpy(bytes.data() + sizeof(filter.flags) + 1, filter.program.data(),
              filter.program.size() * sizeof(sock_filter));
  return bytes;
}

Result<SeccompFilter> parse_filter_bytes(std::string_view bytes) {
  SeccompFilter filter;
  constexpr std::size_t kHeader = sizeof(filter.flags) + 1;
  if (bytes.size() < kHeader || (bytes.size() - kHeader) % sizeof(sock_filter) != 0)
    return fail(EPROTO, "the compiled seccomp filter is damaged");
  std::memcpy(&filter.flags, bytes.data(), sizeof(filter.flags));
  filter.notify = bytes[sizeof(filter.flags)] != 0;
  filter.program.resize((bytes.size() - kHeader) / sizeof(sock_filter));
  std::memcpy(filter.program.data(), bytes.data() + kHeader, bytes.size() - kHeader);
  return filter;
}

}  // namespace ocirun::linux
