#include "runtime/commands/restore.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cgroups/open_cgroup.hpp"
#include "hooks/phase.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/checkpoint/criu_program.hpp"
#include "linux/checkpoint/restored_processes.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/checkpoint/cgroup_image.hpp"
#include "runtime/checkpoint/compare.hpp"
#include "runtime/checkpoint/compare_id_maps.hpp"
#include "runtime/checkpoint/criu_process.hpp"
#include "runtime/checkpoint/network_image.hpp"
#include "runtime/checkpoint/new_namespaces.hpp"
#include "runtime/checkpoint/outside.hpp"
#include "runtime/checkpoint/prepared_sources.hpp"
#include "runtime/checkpoint/progress.hpp"
#include "runtime/checkpoint/read_only_root.hpp"
#include "runtime/checkpoint/talk.hpp"
#include "runtime/commands/checkpoint.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/making.hpp"
#include "runtime/commands/remove.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/init/process.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/host_hooks.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kLogName[] = "restore.log";

/// The steps of a restore. The steps that it shares with `create` are those of Making.
class Restoration : Making {
 public:
  Restoration(const GlobalOptions& options, const Log& log, const RestoreRequest& request,
              Document document)
      : Making(options, log, request.create, std::move(document)), restore_(request) {}
  ~Restoration() { undo_.run(); }  // the steps use members of this class

  Result<CreatedContainer> run() {
    // Before anything is removed or made: the paths may be wrong.
    TRY(open_directories());
    TRY_ASSIGN(criu_, linux::find_criu(options_.criu));
    TRY(make_way());
    TRY(claim_id());
    TRY_ASSIGN(place_, choose_place(options_, document_.config, request_.id.string(), log_));
    TRY(check_absence(place_->cgroup->record(), restore_.settings.cgroups));
    TRY(record_intent());
    TRY_ASSIGN(pinned_, linux::pin_namespaces(document_.config.namespaces));
    TRY(make_mount_points(document_.config));
    TRY(make_cgroup());
    if (document_.config.resources) TRY(place_->cgroup->apply(*document_.config.resources));
    TRY(keep_filter());
    hierarchies_ = describe_hierarchies(place_->layout, record_.cgroup);
    outside_ = outside_mounts(config(), hierarchies_);
    TRY(choose_prepared_place());
    if (!document_.config.net_devices.empty()) undo_.add([this] { take_net_devices_back(); });
    TRY(restore_processes());
    keep_net_devices();
    undo_.commit();
    if (auto started = run_poststart(*directory_, record_, log_); !started) {
      destroy_after(started.error());
      return std::unexpected(std::move(started).error());
    }
    return CreatedContainer{.directory = std::move(*directory_),
                            .record = std::move(record_),
                            .init = std::move(init_),
                            .terminal = std::move(terminal_),
                            .notify_socket = UniqueFd()};
  }

 private:
  const bundle::Config& config() const { return document_.config; }
  bool ignores_cgroups() const { return restore_.settings.cgroups == CgroupMode::kIgnore; }
  NewNamespaces new_namespaces(int init) const {
    return {.config = config(), .procfs = place_->procfs, .init = init, .joined = pinned_};
  }

  Result<void> open_directories() {
    TRY_ASSIGN(images_, open_images(restore_.settings.images, restore_.trust));
    if (restore_.trust == TrustImages::kNo && !ignores_cgroups())
      TRY(check_cgroup_images(images_, config().id_map));
    TRY(check_network_images(images_, config(), restore_.settings, log_));
    TRY_ASSIGN(work_, open_directory_for_dump(restore_.settings.work, "--work-path"));
    return {};
  }

  Result<void> choose_prepared_place() {
    if (!wants_prepared_sources(config())) return {};
    std::vector<std::string> paths{config().root_path.string(), restore_.settings.images.string(),
                                   restore_.settings.work.string()};
    for (const OutsideMount& mount : outside_) paths.push_back(mount.source);
    for (const linux::Namespace& entry : config().namespaces.entries())
      if (entry.path) paths.push_back(entry.path->string());
    TRY_ASSIGN(prepared_, place_for_sources(paths));
    return {};
  }

  // `exec` loads the filter of the document.
  Result<void> keep_filter() {
    if (!config().seccomp) return {};
    std::vector<std::string> warnings;
    TRY_ASSIGN(const auto filter, linux::compile_seccomp(*config().seccomp, warnings));
    for (const std::string& warning : warnings) log_.debug(warning);
    return directory_->write_filter(filter_bytes(filter));
  }

  Result<void> restore_processes() {
    TRY_ASSIGN(linux::CriuLaunch launch, prepare_launch());
    TRY_ASSIGN(std::vector<std::string> words, words_for_restore(crius_part(), kLogName));
    const CriuLog crius_log{work_, restore_.settings.work.string(), kLogName};
    Progress progress(Fd{STDERR_FILENO}, "restore " + request_.id.string(),
                      [this] { return memory_restored(); });
    const auto restored = talk_with_criu(
        launch, std::move(words), log_, [&](auto& news) { return pass(news); }, progress);
    // CRIU has ended, and if it was killed it has left what it restores.
    if (!restored || !is_published_) linux::kill_all_below_this_process(place_->procfs);
    if (!restored && has_refused_) return std::unexpected(restored.error());
    if (!restored) return std::unexpected(explain_by_log(restored.error(), crius_log));
    if (!is_published_)
      return refuse(
          "criu has restored the container without the stage pre-resume, in which its "
          "processes are compared with config.json");
    return {};
  }

  std::optional<Amount> memory_restored() const {
    const auto memory = memory_of(*place_->cgroup);
    if (!memory) return std::nullopt;
    return Amount{.done = *memory, .total = bytes_of_pages(images_)};
  }

  // The descriptors that CRIU gets from kFirstPassed on: the joined namespaces.
  Result<linux::CriuLaunch> prepare_launch() {
    linux::CriuLaunch launch;
    launch.program = criu_;
    for (const linux::PinnedNamespace& pinned : pinned_) launch.passed.push_back(pinned.fd);
    if (ignores_cgroups()) {
      TRY_ASSIGN(join_, place_->cgroup->open_for_join());
    }
    launch.images = images_;
    launch.work = work_;
    launch.before = [this](linux::CriuLaunch& in_child) {
      return prepare_criu(crius_part(), in_child);
    };
    return launch;
  }

  CriusPart crius_part() {
    return {.config = config(),
            .settings = restore_.settings,
            .procfs = place_->procfs,
            .cgroup = record_.cgroup.path,
            .outside = outside_,
            .prepared = prepared_,
            .pinned = pinned_,
            .join = join_,
            .has_new_keyring = request_.new_keyring,
            .images = images_,
            .work = work_};
  }

  Result<void> pass(linux::CriuNews& news) {
    auto passed = [&]() -> Result<void> {
      if (news.stage == "setup-namespaces") return set_namespaces_up(news.number);
      if (news.stage == "orphan-pts-master") {
        TRY_ASSIGN(terminal_, deliver_terminal(news.terminal, document_.host.console));
      }
      if (news.stage == "pre-resume") {
        auto admitted = admit(news.number);
        if (!admitted) linux::kill_restored(place_->procfs, news.number);
        return admitted;
      }
      return {};
    }();
    if (!passed) has_refused_ = true;
    return passed;
  }

  // The namespaces are there, and nothing else. Network devices and hooks find them by the pid.
  Result<void> set_namespaces_up(int pid) {
    TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
    intent_.record.init_pid = pid;
    intent_.record.init_start_time = stat.start_time;
    TRY(directory_->write_intent(intent_));
    // Before hooks and devices are given to a user namespace that maps other ids.
    if (restore_.trust == TrustImages::kNo)
      TRY(explain_difference(compare_id_maps(config(), place_->procfs, pid)));
    // CRIU moves no process then: the others are children of this one.
    if (ignores_cgroups()) TRY(place_->cgroup->adopt(pid));
    TRY(join_resctrl(pid));  // before CRIU forks the other processes
    TRY(new_namespaces(pid).set_up());
    if (!config().net_devices.empty()) {
      TRY_ASSIGN(network_namespace_,
                 linux::sys::openat(place_->procfs.fd(), fmt::format("{}/ns/net", pid).c_str(),
                                    O_RDONLY | O_CLOEXEC));
      TRY(move_net_devices(*directory_, config().net_devices, network_namespace_, log_));
    }
    TRY(run_hooks(pid));
    return new_namespaces(pid).set_devices_up();
  }

  Result<void> run_hooks(int pid) {
    bundle::StateDocument state = document_of(record_);
    state.status = Status::kCreated;
    state.pid = pid;
    const hooks::Surroundings surroundings = on_host(state, request_.bundle, log_);
    hooks_have_begun_ = true;
    directory_->unlock();  // a hook may ask for the container's state
    for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
      TRY(hooks::run_phase(config().hooks, kind, hooks::failure_rule(kind), surroundings));
    TRY(directory_->lock(kLockPatience));
    if (!directory_->exists()) return refuse("the container was deleted while its hooks ran");
    return {};
  }

  // All processes are restored. None of them has executed an instruction of its own: CRIU has
  // stopped each thread by ptrace at its last system call, the one that loads the restored
  // registers. CRIU lets them go when it has the answer to this stage, and a SIGKILL is all that
  // reaches them before. So what is compared here is what will run.
  Result<void> admit(int pid) {
    if (config().root_readonly) TRY(make_root_read_only(place_->procfs, pid));
    TRY_ASSIGN(const std::vector<int> pids, linux::restored_processes(place_->procfs, pid));
    if (restore_.trust == TrustImages::kYes) {
      log_.warn("--trust-images: what was restored is not compared with config.json");
    } else {
      TRY(explain_difference(compare_restored({.config = config(),
                                               .record = record_,
                                               .procfs = place_->procfs,
                                               .pinned = pinned_,
                                               .images = images_},
                                              pid, pids)));
    }
    return publish(pid, pids);
  }

  static Result<void> explain_difference(Result<void> compared) {
    return within(std::move(compared),
                  "the images do not fit config.json, and the restored processes were killed "
                  "(--trust-images restores them all the same)");
  }

  Result<void> publish(int pid, const std::vector<int>& pids) {
    // Not before: CRIU moves the processes after the stage setup-namespaces, and systemd removes a
    // scope that is empty meanwhile.
    if (!ignores_cgroups()) TRY(place_->cgroup->adopt(pid));
    record_.init_pid = pid;
    TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
    record_.init_start_time = stat.start_time;
    TRY_ASSIGN(record_.init_image, linux::image_of(::getpid()));
    TRY_ASSIGN(init_.pidfd, linux::open_pidfd(record_.init()));
    init_.pid = pid;
    // CRIU may fail after this, and does not end processes then. Without a pid namespace the others
    // do not end with init.
    for (const int one : pids) {
      TRY_ASSIGN(const linux::ProcessStat its_stat, linux::read_process_stat(one));
      restored_.push_back({.pid = one, .start_time = its_stat.start_time});
    }
    undo_.add([this] {
      for (const linux::ProcessIdentity& process : restored_)
        static_cast<void>(linux::send_signal(process, SIGKILL));
    });
    TRY(directory_->commit(record_));
    TRY(request_.announcement.tell(init_, undo_));
    is_published_ = true;
    return {};
  }

  // A container that was checkpointed is stopped, and its record is still there: the restored one
  // takes its place.
  Result<void> make_way() const {
    const auto stopped = Container::load(options_, request_.id);
    if (!stopped || stopped->status() != Status::kStopped) return {};
    return delete_container(options_, request_.id, Force::kNo, log_);
  }

  void destroy_after(const Error& error) {
    // EBUSY: another command works on the container.
    if (!directory_->exists() || error.number() == EBUSY) return;
    const auto destroyed = destroy_container(*directory_, record_, log_);
    if (!destroyed) log_.warn(destroyed.error().message());
  }

  const RestoreRequest& restore_;
  UniqueFd images_, work_, terminal_;
  std::string criu_;  // the path of the program
  std::vector<linux::CgroupHierarchy> hierarchies_;
  std::vector<OutsideMount> outside_;
  std::string prepared_;  // the place of prepared_sources.hpp, or ""
  std::vector<linux::PinnedNamespace> pinned_;
  cgroups::Cgroup::JoinHandles join_;
  linux::Child init_;
  std::vector<linux::ProcessIdentity> restored_;
  bool has_refused_ = false;  // a stage: the error is ours, not in CRIU's log
  bool is_published_ = false;
};

}  // namespace

Result<CreatedContainer> restore_container(const GlobalOptions& options, const Log& log,
                                           const RestoreRequest& request) {
  TRY(refuse_ordinary_user());
  TRY_ASSIGN(Document document, read_document(request.create, log));
  TRY(check_can_be_checkpointed(document.config));
  return Restoration(options, log, request, std::move(document)).run();
}

}  // namespace ocirun::runtime
