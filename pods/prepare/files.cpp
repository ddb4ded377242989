#include "pods/prepare/files.hpp"

#include <fcntl.h>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/images/directories.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostBytesOfResolvConf = std::size_t{1} << 20;

/// The host's resolv.conf. For a network of the pod's own, without the servers at 127.x.x.x and
/// ::1.
Result<std::string> resolver_text(Network network) {
  TRY_ASSIGN(const UniqueFd etc, sys::open("/etc", O_PATH | O_DIRECTORY));
  const auto text = linux::read_file(etc, "resolv.conf", kMostBytesOfResolvConf);
  if (!text && text.error().number() == ENOENT) return "";
  if (!text || network == Network::kHost) return text;
  std::string kept;
  for (const std::string_view line : linux::split(*text, '\n')) {
    const auto words = linux::words(line);
    const bool is_loopback = words.size() > 1 && words[0] == "nameserver" &&
                             (words[1].starts_with("127.") || words[1] == "::1");
    if (!is_loopback && !line.empty()) kept += fmt::format("{}\n", line);
  }
  return kept;
}

}  // namespace

Result<std::vector<BoundPath>> write_config_files(const Container& container, const Given& given,
                                                  Fd directory, const std::string& path) {
  std::vector<BoundPath> bound;
  if (container.config_files.empty()) return bound;
  TRY_ASSIGN(const UniqueFd files, open_or_make_directory(directory, "files", 0700));
  for (std::size_t i = 0; i < container.config_files.size(); ++i) {
    const ConfigFile& file = container.config_files[i];
    const std::string name = fmt::format("{}", i);
    const std::string& content =
        file.parameter ? given.bindings.parameters.at(*file.parameter) : *file.value;
    TRY(linux::replace_file(files, name, content, 0644));
    bound.push_back({.source = fmt::format("{}/files/{}", path, name),
                     .destination = file.path,
                     .read_only = true,
                     .recursive = false});
  }
  return bound;
}

std::string hosts_text(const std::vector<HostLine>& lines) {
  std::string text = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";
  for (const auto& [address, name] : lines) text += fmt::format("{}\t{}\n", address, name);
  return text;
}

Result<std::vector<BoundPath>> write_network_files(const std::string& pod_name, Network network,
                                                   Fd directory, const std::string& path) {
  TRY_ASSIGN(const UniqueFd etc, open_or_make_directory(directory, "etc", 0700));
  TRY_ASSIGN(const std::string resolver, resolver_text(network));
  const std::string hosts = hosts_text({{.address = "127.0.1.1", .name = pod_name}});
  const std::pair<const char*, std::string> files[] = {
      {"hosts", hosts}, {"hostname", pod_name + "\n"}, {"resolv.conf", resolver}};
  std::vector<BoundPath> bound;
  for (const auto& [name, content] : files) {
    TRY(linux::replace_file(etc, name, content, 0644));
    bound.push_back({.source = fmt::format("{}/etc/{}", path, name),
                     .destination = fmt::format("/etc/{}", name),
                     .read_only = false,
                     .recursive = false});
  }
  return bound;
}

namespace {

constexpr mode_t kFileMode = 0644;       // of Kubernetes, unless the document has another
constexpr mode_t kDirectoryMode = 0755;  // whatever the umask is

/// `group`: of the file, whose members can then read it.
Result<void> write_one(Fd directory, const std::string& path, const std::string& bytes, mode_t mode,
                       std::optional<Gid> group) {
  TRY_ASSIGN(UniqueFd parent, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  const auto parts = linux::words(path, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string name(parts[i]);
    TRY_ASSIGN(parent, open_or_make_directory(parent, name.c_str(), kDirectoryMode));
    TRY(sys::fchmod(parent, kDirectoryMode));
  }
  const std::string name(parts.back());
  TRY(linux::replace_file(parent, name, bytes, mode));
  if (!group) return {};
  constexpr mode_t kReadable = 0440;
  TRY_ASSIGN(const UniqueFd file, sys::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW));
  TRY_ASSIGN(const struct stat status, sys::fstat(file));
  TRY(sys::fchown(file, status.st_uid, group->value()));
  return sys::fchmod(file, mode | kReadable);
}

}  // namespace

Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory) {
  const mode_t mode = volume.file_mode.value_or(kFileMode);
  if (!volume.items) {
    for (const auto& [key, bytes] : keys) TRY(write_one(directory, key, bytes, mode, volume.group));
    return {};
  }
  for (const KeyFile& file : *volume.items) {
    const auto key = keys.find(file.key);
    if (key != keys.end())
      TRY(write_one(directory, file.path, key->second, file.mode.value_or(mode), volume.group));
    else if (!volume.is_optional)
      return refuse("there is no key \"{}\" for the file \"{}\"", file.key, file.path);
  }
  return {};
}

}  // namespace ocirun::pods
