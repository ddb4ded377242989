#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The default of --data, where images and pods are kept: /var/lib/ocirun for root, else
/// $XDG_DATA_HOME/ocirun or ~/.local/share/ocirun. Errors: an ordinary user has neither variable.
Result<HostPath> default_data_directory();

/// DATA/pods/POD: bundles, volumes, logs and the record of one pod.
class PodDirectory {
 public:
  const std::string& name() const { return name_; }
  HostPath path() const { return HostPath(path_); }  // absolute
  std::string path(std::string_view below) const;    // "DATA/pods/POD/below"
  HostPath data() const;                             // DATA
  Fd fd() const { return directory_; }
  /// Opens the same directory again by its path, in the caller's present mount namespace. Errors:
  /// another directory has this path there.
  Result<UniqueFd> open_again() const;

  /// Locks the pod. The supervisor holds the lock as long as the pod runs, and `delete` as long as
  /// it works. Errors: EAGAIN if another process holds the lock; ENOENT if the directory was
  /// removed meanwhile.
  Result<UniqueFd> lock() const;

  /// Removes the directory and everything in it. Nothing may be mounted in it. Does nothing if
  /// another process has removed it.
  Result<void> remove() const;

 private:
  friend class PodsDirectory;
  PodDirectory(std::string name, std::string path, UniqueFd directory, UniqueFd parent)
      : name_(std::move(name)),
        path_(std::move(path)),
        directory_(std::move(directory)),
        parent_(std::move(parent)) {}
  std::string name_, path_;
  UniqueFd directory_, parent_;
};

/// A directory for a trial. The lock keeps other processes from removing it.
struct Trial {
  PodDirectory directory;
  UniqueFd lock;
};

/// DATA/pods.
class PodsDirectory {
 public:
  /// Opens the directory. Makes it, and its missing parents, with mode 0700. Errors: the directory
  /// belongs to another user, or others may write to it.
  static Result<PodsDirectory> open(const HostPath& data);

  /// The names of all pods, sorted.
  Result<std::vector<std::string>> names() const;
  /// Errors: ENOENT.
  Result<PodDirectory> open_pod(const std::string& name) const;
  /// Errors: name_is_taken(); a name that check_pod_name() refuses.
  Result<PodDirectory> make_pod(const std::string& name) const;
  /// Makes a directory ".POD.PID" beside the pods, to try in it whether the pod `name` can be made.
  /// names() leaves such directories out. The caller has to remove() the directory.
  Result<Trial> make_trial(const std::string& name) const;
  /// Removes the directories ".POD.PID" of the pod `name` that killed processes have left: trials,
  /// and pods that were being removed. Returns whether there were any.
  Result<bool> remove_left(const std::string& name) const;

 private:
  Result<PodDirectory> open_directory(const std::string& name) const;
  PodsDirectory(std::string path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  std::string path_;
  UniqueFd directory_;
};

/// The error for a new pod whose name another pod has.
Error name_is_taken(const std::string& name);

/// Checks the name of a pod, which becomes a part of paths, ids of containers and a host name. It
/// must be 1 to 63 letters, digits, "-", "_" and ".", and begin and end with a letter or digit.
Result<void> check_pod_name(std::string_view name);
/// The names of the directories in `directory` that check_pod_name() takes, sorted.
Result<std::vector<std::string>> directories_in(Fd directory);

}  // namespace ocirun::pods
