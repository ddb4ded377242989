#include "pods/run/networks/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/prepare/plan/network_files.hpp"
#include "pods/run/networks/bridge.hpp"
#include "pods/run/networks/network_directory.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kNetworkName = "network";  // a file in a pod's directory
constexpr std::size_t kMostNameBytes = 256;
constexpr const char* kHosts = "hosts";

/// Starts the holder of a network, and makes its bridge. Keeps the subnet of an earlier holder,
/// whose members keep their addresses.
Result<NetworkRecord> start_network(const NetworkDirectory& directory,
                                    std::optional<NetworkRecord> earlier) {
  NetworkRecord record;
  OCIRUN_TRY_ASSIGN(record.boot_id, linux::read_boot_id());
  if (earlier) {
    record.subnet = earlier->subnet;
  } else {
    OCIRUN_TRY_ASSIGN(record.subnet, make_subnet(directory.name()));
  }
  OCIRUN_TRY_ASSIGN(record.holder,
                    start_holder({.own_network = true, .pids = false}, directory.name(),
                                 directory.path(), [&](const linux::ProcessIdentity& holder) {
                                   record.holder = holder;
                                   return directory.write(record);
                                 }));
  const auto made = make_bridge(record.holder);
  if (made) return record;
  ignore(linux::send_signal(record.holder, SIGKILL));
  return std::unexpected(made.error());
}

/// The network with a holder that runs.
Result<NetworkRecord> running_network(const NetworkDirectory& directory) {
  OCIRUN_TRY_ASSIGN(auto record, directory.record());
  if (record && runs_now(record->boot_id, record->holder)) return *record;
  return start_network(directory, std::move(record));
}

/// The number that the pod already has, when it is connected again, else the least free number. An
/// alias is a member too, with the number and the holder of its pod.
Result<int> choose_number(const NetworkDirectory& directory, const std::vector<Member>& members,
                          const std::string& pod, const linux::ProcessIdentity& holder) {
  std::array<bool, kLastMember + 1> is_taken{};
  for (const Member& member : members) {
    if (member.pod == pod && member.holder == holder) return member.number;
    is_taken.at(static_cast<std::size_t>(member.number)) = true;
  }
  for (int number = kFirstMember; number <= kLastMember; ++number)
    if (!is_taken.at(static_cast<std::size_t>(number))) return number;
  return refuse("the network \"{}\" is full: it has {} pods", directory.name(), members.size());
}

/// Ends the network if it has no member.
Result<void> end_if_unused(const NetworkDirectory& directory) {
  OCIRUN_TRY_ASSIGN(const std::vector<Member> members, directory.members_left());
  if (!members.empty()) return {};
  OCIRUN_TRY_ASSIGN(const auto record, directory.record());
  if (record && runs_now(record->boot_id, record->holder)) {
    const auto sent = linux::send_signal(record->holder, SIGKILL);
    if (!sent && sent.error().number() != ESRCH) return sent;
  }
  return directory.remove();
}

Result<UniqueFd> watch_changes(const std::string& members) {
  UniqueFd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!changes) return fail(errno, "watch the members of a network");
  if (::inotify_add_watch(changes.get(), members.c_str(), IN_MOVED_TO | IN_DELETE) < 0)
    return fail(errno, "watch {}", members);
  return changes;
}

/// Whether something has changed. Reads all events that have come.
bool take_changes(Fd changes) {
  bool has_changed = false;
  std::array<char, 4096> events;
  while (::read(changes.value, events.data(), events.size()) > 0) has_changed = true;
  return has_changed;
}

}  // namespace

Result<Membership> Membership::join(const PodDirectory& directory, const std::string& network,
                                    const linux::ProcessIdentity& holder,
                                    const std::string& alias) {
  OCIRUN_TRY(linux::replace_file(directory.fd(), kNetworkName, network + "\n", 0600));
  Membership membership(directory.data(), network, directory.name(), alias, holder);
  OCIRUN_TRY(within(membership.connect(), "network \"{}\"", network));
  OCIRUN_TRY(within(membership.watch(), "network \"{}\"", network));
  return membership;
}

Result<Membership> Membership::resume(const PodDirectory& directory, const std::string& network,
                                      const linux::ProcessIdentity& holder,
                                      const std::string& alias) {
  Membership membership(directory.data(), network, directory.name(), alias, holder);
  if (!membership.watch()) {
    membership.has_failed_ = true;
    membership.due_ = Clock::now();
  }
  return membership;
}

Result<void> Membership::connect() const {
  if (!linux::is_alive(pod_holder_)) return refuse("the holder of the pod's namespaces has ended");
  OCIRUN_TRY_ASSIGN(const NetworkDirectory directory, NetworkDirectory::open(data_, network_));
  OCIRUN_TRY_ASSIGN(const NetworkRecord record, running_network(directory));
  OCIRUN_TRY_ASSIGN(const std::vector<Member> members, directory.members_left());
  OCIRUN_TRY_ASSIGN(const int number, choose_number(directory, members, pod_, pod_holder_));
  Member member{.format = 1, .pod = pod_, .boot_id = {}, .holder = pod_holder_, .number = number};
  OCIRUN_TRY_ASSIGN(member.boot_id, linux::read_boot_id());
  OCIRUN_TRY(directory.write(member));
  const bool is_free = std::ranges::none_of(members, [&](const Member& other) {
    return other.pod == alias_ && other.holder != pod_holder_;
  });
  if (!alias_.empty() && is_free) {
    member.pod = alias_;
    OCIRUN_TRY(directory.write(member));
  }
  return connect_to_bridge(record.holder, pod_holder_, record.subnet, number);
}

/// Watches the holder and the members of the network, without its lock.
Result<void> Membership::watch() {
  OCIRUN_TRY_ASSIGN(const auto found, NetworkDirectory::look(data_, network_));
  OCIRUN_TRY_ASSIGN(const auto record, found ? found->record() : std::optional<NetworkRecord>());
  if (!record || !runs_now(record->boot_id, record->holder))
    return refuse("the process that keeps the network \"{}\" has ended", network_);
  OCIRUN_TRY_ASSIGN(changes_, watch_changes(found->members_path()));
  OCIRUN_TRY_ASSIGN(end_, linux::ProcessEnd::watch(record->holder));
  connected_ = Clock::now();
  return {};
}

Result<void> Membership::show_members_in(UniqueFd etc) {
  etc_ = std::move(etc);
  return write_hosts();
}

/// The network is not locked meanwhile: the containers can delay the file, which is theirs too.
Result<void> Membership::write_hosts() const {
  OCIRUN_TRY_ASSIGN(const auto directory, NetworkDirectory::look(data_, network_));
  if (!directory) return refuse("the network \"{}\" is gone", network_);
  OCIRUN_TRY_ASSIGN(const auto record, directory->record());
  if (!record) return refuse("the network \"{}\" has no record", network_);
  OCIRUN_TRY_ASSIGN(const std::vector<Member> members, directory->members());
  std::vector<HostLine> lines;
  for (const Member& member : members) {
    lines.push_back({record->subnet.ipv4(member.number), member.pod});
    lines.push_back({record->subnet.ipv6(member.number), member.pod});
  }
  const std::string text = hosts_text(lines);
  // O_NONBLOCK: a container may hold a lease of the file, which would delay the supervisor.
  OCIRUN_TRY_ASSIGN(const UniqueFd file,
                    sys::openat(etc_, kHosts, O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
  OCIRUN_TRY(linux::write_all(file, text));
  if (::ftruncate(file.get(), static_cast<off_t>(text.size())) != 0)
    return fail(errno, "shorten {}", kHosts);
  return {};
}

void Membership::add_wanted(std::vector<pollfd>& watched) const {
  watched.push_back({changes_.get(), POLLIN, 0});
  if (end_ && end_->wanted().fd >= 0) watched.push_back(end_->wanted());
}

Membership::Clock::time_point Membership::next() const {
  if (has_failed_ || !end_) return due_;
  return end_->wanted().fd >= 0 ? Clock::time_point::max() : Clock::now() + end_->poll_limit();
}

Result<bool> Membership::tick(Clock::time_point now) {
  if (end_ && end_->has_come()) {
    end_.reset();
    has_failed_ = true;
    due_ = now + backoff_.after_run_of(now - connected_);
    return refuse("the process that keeps the network \"{}\" has ended", network_);
  }
  if (take_changes(changes_)) is_stale_ = true;
  if (!end_ || !is_stale_ || (has_failed_ && now < due_)) return false;
  return conclude(write_hosts(), now);
}

Result<bool> Membership::connected(Result<void> outcome, Clock::time_point now) {
  if (outcome) outcome = watch();
  is_stale_ = true;
  return conclude(outcome ? write_hosts() : outcome, now);
}

Result<bool> Membership::conclude(const Result<void>& done, Clock::time_point now) {
  if (!done) {
    has_failed_ = true;
    due_ = now + backoff_.after_run_of({});
    return std::unexpected(done.error());
  }
  is_stale_ = false;
  due_ = Clock::time_point::max();
  return std::exchange(has_failed_, false);
}

Result<void> enter_network(
    const HostPath& data, const std::string& network,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& enter) {
  // The lock is held meanwhile: two pods that start at once must not make a user namespace each.
  OCIRUN_TRY_ASSIGN(const NetworkDirectory directory, NetworkDirectory::open(data, network));
  OCIRUN_TRY_ASSIGN(const auto record, directory.record());
  const bool is_kept = record && runs_now(record->boot_id, record->holder);
  OCIRUN_TRY(enter(is_kept ? record->holder : linux::ProcessIdentity{}));
  OCIRUN_TRY(running_network(directory));
  return {};
}

Result<void> drop_unused_network(const HostPath& data, const std::string& network) {
  OCIRUN_TRY_ASSIGN(const auto directory, NetworkDirectory::find(data, network));
  return directory ? end_if_unused(*directory) : Result<void>();
}

Result<std::string> network_of(const PodDirectory& directory) {
  auto text = linux::read_file(directory.fd(), kNetworkName, kMostNameBytes, O_NOFOLLOW);
  if (!text && text.error().number() == ENOENT) return "";
  if (text) std::erase(*text, '\n');
  return text;
}

Result<NetworkPlace> network_place(const PodDirectory& directory) {
  NetworkPlace place;
  OCIRUN_TRY_ASSIGN(const std::string name, network_of(directory));
  if (name.empty()) return place;
  OCIRUN_TRY_ASSIGN(const auto network, NetworkDirectory::look(directory.data(), name));
  if (!network) return place;
  OCIRUN_TRY_ASSIGN(const auto record, network->record());
  OCIRUN_TRY_ASSIGN(const std::vector<Member> members, network->members());
  const auto own = std::ranges::find(members, directory.name(), &Member::pod);
  if (!record || own == members.end()) return place;
  place.name = name;
  place.addresses = {record->subnet.ipv4(own->number), record->subnet.ipv6(own->number)};
  return place;
}

Result<void> leave_network(const PodDirectory& directory) {
  OCIRUN_TRY_ASSIGN(const std::string name, network_of(directory));
  if (name.empty()) return {};
  OCIRUN_TRY_ASSIGN(const auto network, NetworkDirectory::find(directory.data(), name));
  if (!network) return {};
  OCIRUN_TRY(network->remove_member(directory.name()));
  return end_if_unused(*network);
}

}  // namespace ocirun::pods
