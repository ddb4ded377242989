#include "pods/run/networks/network_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "bundle/json/record.hpp"
#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/state/process_json.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using bundle::required;
using bundle::written;

constexpr const char* kNetworkFile = "network.json";
constexpr const char* kMembers = "members";
constexpr int kNetworkFormat = 1;
constexpr std::size_t kMostRecordBytes = 65536;

constexpr auto kSubnet =
    bundle::exact_fields<Subnet>(required("third", &Subnet::third, bundle::whole_number),
                                 required("globalId", &Subnet::global_id, bundle::whole_number));

constexpr auto kNetwork = bundle::exact_fields<NetworkRecord>(
    written("format", &NetworkRecord::format, bundle::RecordFormat{kNetworkFormat}),
    required("bootId", &NetworkRecord::boot_id, bundle::text),
    required("holder", &NetworkRecord::holder, kProcess),
    required("subnet", &NetworkRecord::subnet, kSubnet));

constexpr auto kMember = bundle::exact_fields<Member>(
    written("format", &Member::format, bundle::RecordFormat{kNetworkFormat}),
    required("pod", &Member::pod, bundle::nonempty_text),
    required("bootId", &Member::boot_id, bundle::text),
    required("holder", &Member::holder, kProcess),
    required("number", &Member::number, bundle::range(kFirstMember, kLastMember)));

Result<UniqueFd> open_directory_at(Fd above, const std::string& name) {
  return sys::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/// Whether `directory` still has the name `name` in `above`: the last pod of a network removes it.
Result<bool> has_name(Fd above, const std::string& name, Fd directory) {
  const auto named = open_directory_at(above, name);
  if (!named && named.error().number() == ENOENT) return false;
  if (!named) return std::unexpected(named.error());
  return sys::is_same_file(*named, directory);
}

/// Locks a directory until it is closed. Others have the lock while they run a few programs.
Result<void> lock(Fd directory) {
  linux::Patience patience(std::chrono::seconds(60));
  while (::flock(directory.value, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) return fail(errno, "lock");
    if (!patience.wait())
      return fail(EAGAIN, "another process has had the network locked for a minute");
  }
  return {};
}

}  // namespace

Result<void> check_network_name(const std::string& name) {
  if (check_pod_name(name)) return {};
  return refuse(
      "--network {}: must be 1 to 63 letters, digits, \"-\", \"_\" and \".\" that begin and end "
      "with a letter or digit",
      name);
}

Result<std::optional<NetworkDirectory>> NetworkDirectory::open_by(Way way, const HostPath& data,
                                                                  const std::string& name) {
  OCIRUN_TRY(check_network_name(name));
  const std::string path = fmt::format("{}/networks/{}", data.string(), name);
  auto opened = [&]() -> Result<std::optional<NetworkDirectory>> {
    OCIRUN_TRY_ASSIGN(UniqueFd above,
                      linux::open_or_make_directory(HostPath(data.string() + "/networks")));
    for (;;) {
      auto directory = way == Way::kMake ? linux::open_or_make_directory(above, name.c_str(), 0700)
                                         : open_directory_at(above, name);
      if (!directory && directory.error().number() == ENOENT && way != Way::kMake)
        return std::nullopt;
      if (!directory) return std::unexpected(directory.error());
      if (way != Way::kLook) OCIRUN_TRY(lock(*directory));
      OCIRUN_TRY_ASSIGN(const bool is_current, has_name(above, name, *directory));
      if (is_current) return NetworkDirectory(name, path, std::move(above), *std::move(directory));
    }
  }();
  return within(std::move(opened), path);
}

Result<NetworkDirectory> NetworkDirectory::open(const HostPath& data, const std::string& name) {
  OCIRUN_TRY_ASSIGN(auto opened, open_by(Way::kMake, data, name));
  return *std::move(opened);
}

Result<std::optional<NetworkDirectory>> NetworkDirectory::find(const HostPath& data,
                                                               const std::string& name) {
  return open_by(Way::kFind, data, name);
}

Result<std::optional<NetworkDirectory>> NetworkDirectory::look(const HostPath& data,
                                                               const std::string& name) {
  return open_by(Way::kLook, data, name);
}

Result<std::optional<NetworkRecord>> NetworkDirectory::record() const {
  auto record = bundle::read_record(directory_, kNetworkFile, kMostRecordBytes, kNetwork);
  if (record) return *std::move(record);
  if (record.error().number() == ENOENT) return std::nullopt;
  return std::unexpected(record.error().within(path_));
}

Result<void> NetworkDirectory::write(const NetworkRecord& record) const {
  return bundle::replace_record(directory_, kNetworkFile, kNetwork, record);
}

Result<std::vector<Member>> NetworkDirectory::read_members(bool removes_dead) const {
  std::vector<Member> members;
  const auto directory = open_directory_at(directory_, kMembers);
  if (!directory && directory.error().number() == ENOENT) return members;
  if (!directory) return std::unexpected(directory.error());
  std::vector<std::string> names;
  OCIRUN_TRY(
      linux::for_each_entry(*directory, [&](const char* name, unsigned char) -> Result<void> {
        if (check_pod_name(name)) names.emplace_back(name);
        return {};
      }));
  for (const std::string& name : names) {
    auto member = bundle::read_record(*directory, name, kMostRecordBytes, kMember);
    if (!member && member.error().number() == ENOENT) continue;  // it has left meanwhile
    if (!member) return std::unexpected(member.error().within(members_path()));
    if (runs_now(member->boot_id, member->holder))
      members.push_back(*std::move(member));
    else if (removes_dead)
      OCIRUN_TRY(linux::remove_tree(*directory, name.c_str()));
  }
  std::ranges::sort(members, {}, &Member::number);
  return members;
}

Result<std::vector<Member>> NetworkDirectory::members() const { return read_members(false); }

Result<std::vector<Member>> NetworkDirectory::members_left() const { return read_members(true); }

Result<void> NetworkDirectory::write(const Member& member) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                    linux::open_or_make_directory(directory_, kMembers, 0700));
  return bundle::replace_record(directory, member.pod, kMember, member);
}

Result<void> NetworkDirectory::remove_member(const std::string& pod) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                    linux::open_or_make_directory(directory_, kMembers, 0700));
  return linux::remove_tree(directory, pod.c_str());
}

std::string NetworkDirectory::members_path() const { return fmt::format("{}/{}", path_, kMembers); }

Result<void> NetworkDirectory::remove() const { return linux::remove_tree(above_, name_.c_str()); }

}  // namespace ocirun::pods
