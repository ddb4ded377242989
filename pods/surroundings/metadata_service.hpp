#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"
#include "pods/metadata/content.hpp"
#include "pods/prepare/program.hpp"

namespace ocirun::pods {

/// The metadata service of a pod (AC-22): the program ocirun-metadata, seen by the supervisor. The
/// supervisor keeps the socket that listens, so that the address stays the pod's when the program
/// has ended and is started again: clients then wait.
class MetadataService {
 public:
  using Clock = std::chrono::steady_clock;

  /// Listens at a port of 127.0.0.1 in the network namespace `network` (-1: the caller's), but not
  /// at one of `taken`, and makes the secrets of the pod. The caller must have one thread. Errors:
  /// no other port is free.
  static Result<MetadataService> listen(Fd network, const std::vector<std::uint16_t>& taken);

  /// The value of AC_METADATA_URL: "http://127.0.0.1:PORT/TOKEN".
  std::string url() const;
  /// The pod's, which was made for this service.
  const std::string& uuid() const { return content_.uuid; }

  /// Starts the program. `place` is a directory, on which it mounts its empty root in a mount
  /// namespace of its own; `cgroup` is the path of a cgroup for it, which is made; "": the
  /// caller's. The program dies with the caller. Errors: the program is missing, or its own words.
  Result<linux::ProcessIdentity> start(std::vector<Resource> resources, std::string place,
                                       std::string cgroup);

  /// Called when the program has ended: it is started again after a wait.
  void ended(Clock::time_point now);
  /// When the program has to be started again.
  Clock::time_point next() const { return due_; }
  /// Starts the program again. After an error it is tried again later.
  Result<linux::ProcessIdentity> start_again(Clock::time_point now);

 private:
  MetadataService(UniqueFd socket, std::uint16_t port, Content content)
      : socket_(std::move(socket)), port_(port), content_(std::move(content)) {}
  Result<linux::ProcessIdentity> start();

  UniqueFd socket_;
  std::uint16_t port_;
  Content content_;
  UniqueFd file_;  // in memory: what the program reads
  std::string place_, cgroup_;
  Backoff backoff_;
  Clock::time_point started_, due_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
