#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"
#include "pods/run/networks/subnet.hpp"

namespace ocirun::pods {

/// network.json: a network of pods.
struct NetworkRecord {
  int format = 1;                 // of the file; a greater number is that of a newer version
  std::string boot_id;            // the boot of the machine that the holder belongs to
  linux::ProcessIdentity holder;  // keeps the network namespace with the bridge; pid 0: none
  Subnet subnet;
};

/// members/POD: a pod in the network.
struct Member {
  int format = 1;
  std::string pod;
  std::string boot_id;
  linux::ProcessIdentity holder;  // of the pod
  int number = 0;                 // in the subnet
};

/// DATA/networks/NAME.
class NetworkDirectory {
 public:
  /// Opens the directory of a network, makes it if it is missing, and locks it as long as the
  /// object exists. Errors: EAGAIN: other processes keep it locked for too long.
  static Result<NetworkDirectory> open(const HostPath& data, const std::string& name);
  /// Like open(), but makes no directory. Nothing: there is no such network.
  static Result<std::optional<NetworkDirectory>> find(const HostPath& data,
                                                      const std::string& name);
  /// Opens the directory without locking it, only for reading. Each record is replaced as a whole.
  static Result<std::optional<NetworkDirectory>> look(const HostPath& data,
                                                      const std::string& name);

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }

  /// Nothing: the network is new.
  Result<std::optional<NetworkRecord>> record() const;
  Result<void> write(const NetworkRecord& record) const;

  /// The members whose pods run, in the order of their numbers.
  Result<std::vector<Member>> members() const;
  /// Like members(), and removes the records of pods that do not run. The directory must be locked.
  Result<std::vector<Member>> members_left() const;
  Result<void> write(const Member& member) const;
  /// Does nothing if the pod is no member.
  Result<void> remove_member(const std::string& pod) const;
  /// The path of the directory with a file for each member.
  std::string members_path() const;

  /// Removes the directory. Nobody may be a member.
  Result<void> remove() const;

 private:
  NetworkDirectory(std::string name, std::string path, UniqueFd above, UniqueFd directory)
      : name_(std::move(name)),
        path_(std::move(path)),
        above_(std::move(above)),
        directory_(std::move(directory)) {}
  enum class Way : std::uint8_t { kMake, kFind, kLook };
  static Result<std::optional<NetworkDirectory>> open_by(Way way, const HostPath& data,
                                                         const std::string& name);
  Result<std::vector<Member>> read_members(bool removes_dead) const;
  std::string name_, path_;
  UniqueFd above_, directory_;
};

/// Checks the value of --network: the rules are those of a pod's name.
Result<void> check_network_name(const std::string& name);

}  // namespace ocirun::pods
