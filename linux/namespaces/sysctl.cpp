#include "linux/namespaces/sysctl.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

constexpr std::string_view kIpcSysctls[] = {
    "kernel/msgmax", "kernel/msgmnb", "kernel/msgmni", "kernel/sem",
    "kernel/shmall", "kernel/shmmax", "kernel/shmmni", "kernel/shm_rmid_forced"};

// The kind of namespace that has its own value of the sysctl; nothing for a sysctl of the whole
// host.
std::optional<NamespaceKind> owner(std::string_view path) {
  if (path.starts_with("net/")) return NamespaceKind::kNetwork;
  if (path.starts_with("user/")) return NamespaceKind::kUser;
  if (path == "kernel/hostname" || path == "kernel/domainname") return NamespaceKind::kUts;
  if (path.starts_with("fs/mqueue/") ||
      std::ranges::find(kIpcSysctls, path) != std::end(kIpcSysctls))
    return NamespaceKind::kIpc;
  return std::nullopt;
}

// sysctl(8): if the first separator of a key is a dot, dots and slashes are exchanged, so that
// "net.ipv4.conf.eno2/100.rp_filter" names the interface eno2.100.
std::string path_of(std::string_view key) {
  std::string path(key);
  const std::size_t separator = key.find_first_of("./");
  if (separator == std::string_view::npos || key[separator] == '/') return path;
  for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return path;
}

bool has_only_names(std::string_view path) {
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, slash - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = slash + 1;
  }
  return path.find('\0') == std::string_view::npos;
}

// The JSON pointer of the entry, escaped by RFC 6901.
std::string pointer_of(const Sysctl& sysctl) {
  std::string pointer = "/linux/sysctl/";
  for (const char c : sysctl.name) c == '/' ? pointer += "~1" : pointer += c;
  return pointer;
}

std::string_view write_advice(int error) {
  if (error == ENOENT) return " (this kernel has no such sysctl in that namespace)";
  if (error == EINVAL || error == ERANGE) return " (the kernel does not take this value)";
  if (error == EACCES || error == EPERM) return " (the kernel lets only the host write it)";
  return "";
}

}  // namespace

Result<Sysctl> parse_sysctl(std::string_view key, std::string value) {
  Sysctl sysctl{.name = std::string(key), .path = path_of(key), .value = std::move(value)};
  if (!has_only_names(sysctl.path))
    return refuse(
        "sysctl \"{}\": must be names separated by dots or slashes, such as"
        " net.ipv4.ip_forward or net/ipv4/conf/eth0.1/rp_filter; none empty, \".\" or \"..\"",
        key);
  if (!owner(sysctl.path))
    return refuse(
        "sysctl \"{}\": belongs to the whole host; allowed are net.*, user.*,"
        " kernel.domainname, fs.mqueue.*, and kernel.msgmax, msgmnb, msgmni, sem, shmall,"
        " shmmax, shmmni, shm_rmid_forced",
        key);
  return sysctl;
}

Result<void> check_sysctl(const Sysctl& sysctl, const NamespaceSet& namespaces) {
  if (sysctl.path == "kernel/hostname")
    return refuse("sysctl \"{}\": use the field /hostname, which sets the same value", sysctl.name);
  const auto kind = owner(sysctl.path);
  if (!kind) return refuse("sysctl \"{}\": belongs to the whole host", sysctl.name);
  const Namespace* entry = namespaces.find(*kind);
  if (entry == nullptr)
    return refuse(
        "sysctl \"{}\": would change the host, because the container has no {} namespace"
        " of its own; add {{\"type\": \"{}\"}} to /linux/namespaces",
        sysctl.name, config_name(*kind), config_name(*kind));
  if (const auto reason = why_not_isolated(*entry, "the host would change"))
    return refuse("sysctl \"{}\": {}", sysctl.name, *reason);
  return {};
}

bool is_interface_sysctl(const Sysctl& sysctl) {
  constexpr std::string_view kTrees[] = {"net/ipv4/conf/", "net/ipv6/conf/", "net/ipv4/neigh/",
                                         "net/ipv6/neigh/", "net/mpls/conf/"};
  for (const std::string_view tree : kTrees) {
    if (!sysctl.path.starts_with(tree)) continue;
    const std::string_view rest = std::string_view(sysctl.path).substr(tree.size());
    const std::string_view interface = rest.substr(0, rest.find('/'));
    return interface != "all" && interface != "default" && interface != "lo";
  }
  return false;
}

std::vector<Sysctl> select_sysctls(std::span<const Sysctl> sysctls, SysctlsOf wanted) {
  std::vector<Sysctl> selected;
  for (const Sysctl& sysctl : sysctls)
    if (is_interface_sysctl(sysctl) == (wanted == SysctlsOf::kInterfaces))
      selected.push_back(sysctl);
  return selected;
}

Result<void> write_sysctls(std::span<const Sysctl> sysctls) {
  if (sysctls.empty()) return {};
  OCIRUN_TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kFull));
  return write_sysctls(sysctls, procfs);
}

Result<void> write_sysctls(std::span<const Sysctl> sysctls, const Procfs& procfs) {
  for (const Sysctl& sysctl : sysctls) {
    // The kernel ignores a write of no bytes. A newline alone empties a text such as
    // kernel.domainname.
    const std::string_view value = sysctl.value.empty() ? "\n" : std::string_view(sysctl.value);
    auto written = procfs.write("sys/" + sysctl.path, value);
    if (written) continue;
    const std::string_view advice = write_advice(written.error().number());
    return within(std::move(written), "{}: set to \"{}\"{}", pointer_of(sysctl), sysctl.value,
                  advice);
  }
  return {};
}

std::string read_sysctl(std::string_view name) {
  const std::string path = "/proc/sys/" + path_of(name);
  const auto file = sys::open(path.c_str(), O_RDONLY);
  std::string text = file ? sys::read_all(*file, 4096).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace ocirun::linux
