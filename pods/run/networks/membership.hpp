#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/programs/program.hpp"
#include "pods/run/networks/subnet.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// A pod's place in a network of pods (--network), while the supervisor of the pod runs.
///
/// A network is a bridge in a network namespace of its own, which a process keeps: the holder. The
/// first pod starts the holder, and the end of the last one ends the holder. If the holder is
/// killed before, the supervisors of the pods notice its end: one starts another holder, and each
/// connects its pod again.
class Membership {
 public:
  using Clock = std::chrono::steady_clock;

  /// Makes the pod of `directory`, whose namespaces `holder` keeps, a member of the network. The
  /// directory of the pod names the network first, so that leave_network() finds it in any case.
  /// `alias`: another name of the pod, unless another pod has it; "": none.
  static Result<Membership> join(const PodDirectory& directory, const std::string& network,
                                 const linux::ProcessIdentity& holder, const std::string& alias);

  /// Goes on with the membership of a pod whose supervisor was killed. If the holder of the network
  /// has ended since, connect() is due.
  static Result<Membership> resume(const PodDirectory& directory, const std::string& network,
                                   const linux::ProcessIdentity& holder, const std::string& alias);

  /// Writes /etc/hosts of the pod in `etc`: its own name and those of the other members. Keeps
  /// `etc`, to write the file again whenever the members change. The file stays the same inode,
  /// which is mounted in the containers.
  Result<void> show_members_in(UniqueFd etc);

  /// Adds the descriptors that become readable when tick() has something to do.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// The next time when tick() or connect() is due without an event.
  Clock::time_point next() const;
  /// Follows what other pods of the network do, and does not wait for them. Returns true at the
  /// first success after an error. After an error, tries again later.
  Result<bool> tick(Clock::time_point now);

  /// Whether connect() is due, because the holder of the network has ended.
  bool must_connect(Clock::time_point now) const { return !end_ && now >= due_; }
  /// Connects the pod with the network. Waits for the lock of the network and for programs, and so
  /// has to be called in a child process, after begin_connecting().
  Result<void> connect() const;
  void begin_connecting() { due_ = Clock::time_point::max(); }
  /// Must be called with the outcome of connect(). Returns what tick() returns.
  Result<bool> connected(Result<void> outcome, Clock::time_point now);

 private:
  Membership(HostPath data, std::string network, std::string pod, std::string alias,
             linux::ProcessIdentity holder)
      : data_(std::move(data)),
        network_(std::move(network)),
        pod_(std::move(pod)),
        alias_(std::move(alias)),
        pod_holder_(holder) {}
  Result<void> watch();
  Result<void> write_hosts() const;
  Result<bool> conclude(const Result<void>& done, Clock::time_point now);

  HostPath data_;
  std::string network_, pod_, alias_;
  linux::ProcessIdentity pod_holder_;
  UniqueFd etc_, changes_;                // changes_: inotify(7) on the records of the members
  std::optional<linux::ProcessEnd> end_;  // of the network's holder; nothing: not connected
  bool is_stale_ = false;                 // /etc/hosts does not show the present members
  bool has_failed_ = false;               // the last attempt to connect or to write /etc/hosts
  linux::Backoff backoff_;
  Clock::time_point connected_, due_ = Clock::time_point::max();  // due_: the next attempt
};

/// For an ordinary user, all pods of a network are in one user namespace. Calls `enter` with the
/// holder of the network: `enter` has to enter its user namespace. With pid 0 no holder runs:
/// `enter` has to make a user namespace, in which this function then starts the holder.
Result<void> enter_network(const HostPath& data, const std::string& network,
                           const std::function<Result<void>(const linux::ProcessIdentity&)>& enter);
/// Ends the holder of a network without members, and removes the network. Does nothing otherwise.
Result<void> drop_unused_network(const HostPath& data, const std::string& network);

/// The name of the network that the pod is or was a member of; "": none.
Result<std::string> network_of(const PodDirectory& directory);
/// A pod in a network.
struct NetworkPlace {
  std::string name;  // of the network; "": the pod is in none, or does not run
  std::vector<std::string> addresses;
};
Result<NetworkPlace> network_place(const PodDirectory& directory);
/// Ends the membership of a pod whose processes have ended. The last member ends the network.
Result<void> leave_network(const PodDirectory& directory);

}  // namespace ocirun::pods
