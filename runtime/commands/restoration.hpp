#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgroups/container/cgroup.hpp"
#include "linux/checkpoint/criu_program.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/checkpoint/conversation.hpp"
#include "runtime/checkpoint/criu_process.hpp"
#include "runtime/checkpoint/new_namespaces.hpp"
#include "runtime/commands/making.hpp"
#include "runtime/commands/restore.hpp"
#include "runtime/compare/host_mounts.hpp"

namespace ocirun::runtime {

/// The steps of a restore. The steps that it shares with `create` are those of Making.
class Restoration : Making {
 public:
  Restoration(const GlobalOptions& options, const Log& log, const RestoreRequest& request,
              Document document)
      : Making(options, log, request.create, std::move(document)), restore_(request) {}
  ~Restoration() { undo_.run(); }  // the steps use members of this class

  Result<CreatedContainer> run();

 private:
  const bundle::Config& config() const { return document_.config; }
  // Also where there is no cgroup of the container's: those of the images are not its own.
  bool ignores_cgroups() const {
    return restore_.settings.cgroups == CgroupMode::kIgnore ||
           (place_ && record_.cgroup.path.empty());
  }
  NewNamespaces new_namespaces(int init) const {
    return {.config = config(), .procfs = place_->procfs, .init = init, .joined = pinned_};
  }

  // What stands around CRIU's work (restore.cpp).
  Result<void> open_directories();
  Result<void> check_images() const;
  Result<void> make_way() const;
  Result<void> keep_filter();
  Result<void> choose_walls();
  Result<void> restore_processes();
  Result<linux::CriuLaunch> prepare_launch();
  RestoreInput restore_input();
  std::optional<Amount> memory_restored() const;
  void destroy_after(const Error& error);

  // What happens at CRIU's stages, in their order (restore_stages.cpp).
  Result<void> pass(linux::CriuNews& news);
  Result<void> set_namespaces_up(int pid);
  Result<void> run_hooks(int pid);
  Result<void> admit(int pid);
  Result<void> publish(int pid, const std::vector<int>& pids);

  const RestoreRequest& restore_;
  UniqueFd images_, work_, terminal_;
  std::string criu_;  // the path of the program
  std::vector<linux::CgroupHierarchy> hierarchies_;
  std::vector<OutsideMount> outside_;
  std::string prepared_;  // the place of prepared_sources.hpp, or ""
  bool has_read_only_host_ = false;
  std::vector<linux::PinnedNamespace> pinned_;
  cgroups::Cgroup::JoinHandles join_;
  linux::Child init_;
  std::vector<linux::ProcessIdentity> restored_;
  bool has_refused_ = false;  // a stage: the error is ours, not in CRIU's log
  bool is_published_ = false;
};

}  // namespace ocirun::runtime
