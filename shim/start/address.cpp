#include "shim/start/address.hpp"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <sys/un.h>

#include <array>
#include <cstdint>
#include <optional>

#include "bundle/json/document.hpp"
#include "bundle/json/reader.hpp"
#include "linux/base/file_io.hpp"

namespace ocirun::shim {
namespace {

constexpr std::array kGroupAnnotations{"io.kubernetes.cri.sandbox-id",
                                       "io.containerd.runc.v2.group"};
constexpr std::size_t kMostPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kDigits = 2 * std::size_t{SHA256_DIGEST_SIZE};

std::string sha256_hex(std::string_view text) {
  sha256_ctx context;
  ::nettle_sha256_init(&context);
  // The cast is safe: a hash reads bytes.
  ::nettle_sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  ::nettle_sha256_digest(&context, digest.size(), digest.data());
  std::string hex;
  for (const std::uint8_t byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

/// The value of the first of kGroupAnnotations that `config` has; "" if it has none.
std::string find_group(const bundle::Value& config) {
  std::string group;
  if (!config.expect_object()) return group;
  const auto annotations = config.member("annotations");
  if (!annotations || !annotations->expect_object()) return group;
  for (const char* name : kGroupAnnotations) {
    const auto annotation = annotations->member(name);
    if (annotation) bundle::text(*annotation, group);
    if (!group.empty()) break;
  }
  return group;
}

}  // namespace

Result<std::string> read_group(Fd bundle, const std::string& id) {
  auto text = linux::read_file(bundle, "config.json", bundle::Document::kMaxSize, O_NOFOLLOW);
  if (is_missing(text)) return id;
  if (!text) return std::unexpected(std::move(text).error());
  bundle::Document document;
  bundle::Report report;
  std::string group;
  if (document.parse(*text, report)) group = find_group(bundle::Value(*document.root(), report));
  if (!report.ok()) return refuse("config.json: {}", report.first_problem());
  return group.empty() ? id : group;
}

Result<std::string> socket_path(std::string_view directory, std::string_view address,
                                std::string_view container_namespace, std::string_view group) {
  if (!directory.starts_with('/'))
    return refuse("the directory of sockets \"{}\": must be an absolute path", directory);
  if (directory.size() + 1 + kDigits > kMostPath)
    return refuse("the directory of sockets {}: its path has {} bytes, and at most {} are possible",
                  directory, directory.size(), kMostPath - 1 - kDigits);
  return fmt::format("{}/{}", directory,
                     sha256_hex(fmt::format("{}/{}/{}", address, container_namespace, group)));
}

}  // namespace ocirun::shim
