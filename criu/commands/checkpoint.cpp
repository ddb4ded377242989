#include "criu/commands/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "bundle/documents/added_mounts.hpp"
#include "bundle/documents/state.hpp"
#include "criu/compare/restored.hpp"
#include "criu/dump/check.hpp"
#include "criu/dump/directory.hpp"
#include "criu/launch/criu_program.hpp"
#include "criu/launch/restored_processes.hpp"
#include "criu/request/conversation.hpp"
#include "criu/request/criu_log.hpp"
#include "criu/request/options_file.hpp"
#include "criu/request/outside.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::seconds kEndPatience{10};
constexpr char kDumpLog[] = "dump.log";
// The sum of three bits of the criu option --cpu-cap: fpu (1), ins (4), image (8). The bit image
// makes criu write cpuinfo.img.
constexpr char kSaveCpu[] = "cpu-cap=13";

// Opens the standard streams of `init`. `restore` will pass the standard streams of the caller of
// `restore` to compare_restored() instead.
Result<std::vector<UniqueFd>> open_streams(const linux::Procfs& procfs, int init) {
  std::vector<UniqueFd> streams;
  for (int number = 0; number < 3; ++number) {
    auto stream =
        linux::sys::openat(procfs.fd(), fmt::format("{}/fd/{}", init, number).c_str(), O_PATH);
    if (stream)
      streams.push_back(*std::move(stream));
    else if (stream.error().number() != ENOENT)
      return std::unexpected(std::move(stream).error());
  }
  return streams;
}

/// A container whose images CRIU has written, and whose processes CRIU still holds.
struct DumpedContainer {
  const bundle::Config& config;
  const bundle::ContainerRecord& record;
  const linux::Procfs& procfs;  // of the runtime's pid namespace
  Fd images;
  SavedCgroups cgroups = SavedCgroups::kMade;
};

// Compares images and processes with config.json, as `restore` will. An error without an errno is
// the sentence with which `restore` would refuse. An error with an errno says nothing about a later
// `restore`.
Result<void> foresee_restore(const DumpedContainer& saved) {
  const auto images = read_images(saved.images, TrustImages::kNo, saved.cgroups);
  if (!images && is_transient(images.error().number())) return std::unexpected(images.error());
  if (!images) return refuse("{}", images.error().message());
  Obstacles obstacles;
  OCIRUN_TRY(check_images(*images, saved.config, saved.cgroups, obstacles));
  if (!obstacles.empty()) return refuse("{}", obstacles.front());
  const int init = saved.record.init_pid;
  OCIRUN_TRY_ASSIGN(const auto pinned, linux::pin_namespaces(saved.config.namespaces));
  OCIRUN_TRY_ASSIGN(const auto opened, open_streams(saved.procfs, init));
  const std::vector<Fd> streams(opened.begin(), opened.end());
  OCIRUN_TRY_ASSIGN(const auto pids, linux::restored_processes(saved.procfs, init));
  return compare_restored({.config = saved.config,
                           .record = saved.record,
                           .procfs = saved.procfs,
                           .pinned = pinned,
                           .streams = streams,
                           .images = *images},
                          init, pids);
}

/// One dump, step by step.
class Dump {
 public:
  Dump(const GlobalOptions& options, const Container& container, const CheckpointRequest& request,
       const Log& log)
      : options_(options), container_(container), request_(request), log_(log) {}

  Result<void> run() {
    OCIRUN_TRY_ASSIGN(const bundle::Config config, container_.config());
    OCIRUN_TRY(check_can_be_checkpointed(config));
    linux::CriuLaunch launch;
    OCIRUN_TRY_ASSIGN(launch.program, linux::find_criu(options_.criu));
    OCIRUN_TRY(open_directories());
    launch.images = images_;
    launch.work = work_;
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    OCIRUN_TRY_ASSIGN(const auto joined,
                      pin_joined_of(config, procfs, container_.record().init_pid));
    launch.before = [&](linux::CriuLaunch&) { return enter_for_criu(joined); };
    OCIRUN_TRY(write_streams(procfs));
    OCIRUN_TRY_ASSIGN(std::vector<std::string> words, words_for(config, procfs));
    const CriuLog criu_log{work_, request_.settings.work.string(), kDumpLog};
    OCIRUN_TRY(remove_old(criu_log));
    const linux::CriuProcesses processes(procfs);
    Progress progress(Fd{STDERR_FILENO}, "checkpoint " + container_.record().id,
                      [this] { return memory_saved(); });
    const auto saved = talk_with_criu(
        launch, std::move(words), log_, [&](auto& news) { return pass(news, config, procfs); },
        progress);
    if (!saved) {
      processes.kill();  // processes that CRIU forks to test the kernel outlive CRIU
      thaw();
      return std::unexpected(has_refused_ ? saved.error()
                                          : explain_by_log(saved.error(), criu_log));
    }
    return request_.afterwards == Afterwards::kEnd ? await_end() : Result<void>{};
  }

 private:
  Result<void> open_directories() {
    const CriuSettings& settings = request_.settings;
    OCIRUN_TRY_ASSIGN(images_, open_or_make_directory(settings.images, "--image-path"));
    if (request_.parent_path) OCIRUN_TRY(check_parent_path(images_, *request_.parent_path));
    OCIRUN_TRY_ASSIGN(work_, open_or_make_directory(settings.work, "--work-path"));
    return {};
  }

  Result<std::vector<std::string>> words_for(const bundle::Config& config,
                                             const linux::Procfs& procfs) const {
    const bundle::ContainerRecord& record = container_.record();
    std::vector<std::string> words{
        request_.afterwards == Afterwards::kIsFollowed ? "pre-dump" : "dump",
        fmt::format("pid={}", record.init_pid),
        fmt::format("log-file={}", kDumpLog),
        "log-level=4",
        "notify=1",
        "evasive-devices=1"};
    // A dump saves the features of the processor for `restore --dry-run`. A pre-dump saves none.
    if (request_.afterwards != Afterwards::kIsFollowed) words.emplace_back(kSaveCpu);
    if (request_.afterwards == Afterwards::kRuns) words.emplace_back("leave-running=1");
    if (request_.parent_path) words.push_back("parent-path=" + *request_.parent_path);
    if (request_.parent_path || request_.afterwards == Afterwards::kIsFollowed)
      words.emplace_back("track-memory=1");
    if (config.process && config.process->terminal) words.emplace_back("orphan-terminal=1");
    if (const std::string freezer = freezer_of(record.cgroup); !freezer.empty())
      words.push_back("freeze-cgroup=" + freezer);

    OCIRUN_TRY_ASSIGN(
        UniqueFd top,
        linux::sys::openat(procfs.fd(), fmt::format("{}/root", record.init_pid).c_str(),
                           O_PATH | O_DIRECTORY));
    const linux::SafeDir root(std::move(top));
    OCIRUN_TRY_ASSIGN(const auto layout, cgroups::read_layout(procfs));
    const auto hierarchies = describe_hierarchies(layout, record.cgroup);
    OCIRUN_TRY_ASSIGN(const auto mounts,
                      words_of_mounts_for_dump(outside_mounts(config, hierarchies), root));
    OCIRUN_TRY_ASSIGN(const auto namespaces,
                      words_of_namespaces_for_dump(config, procfs, record.init_pid));
    OCIRUN_TRY_ASSIGN(const std::string file, config_file_of(config));
    if (!file.empty()) words.push_back("config=" + file);
    for (const auto& more :
         {words_of_settings(request_.settings, record.cgroup.path.empty()), mounts, namespaces,
          words_of_streams_for_dump(streams_), request_.settings.words})
      words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // Called before the dump, because the dump may end init.
  Result<void> write_streams(const linux::Procfs& procfs) {
    OCIRUN_TRY_ASSIGN(streams_, read_standard_streams(procfs, container_.record().init_pid));
    return linux::replace_file(images_, "descriptors.json", bundle::descriptors_text(streams_),
                               0600);
  }

  // The container's directory in the freezer hierarchy of cgroup v1, or else in the unified
  // hierarchy.
  static std::string freezer_of(const cgroups::Record& cgroup) {
    std::string unified;
    for (const auto& [controllers, directory] : cgroup.directories) {
      if (controllers == "freezer") return directory;
      if (controllers.empty()) unified = directory;
    }
    return unified;
  }

  Result<void> pass(const linux::CriuNews& news, const bundle::Config& config,
                    const linux::Procfs& procfs) {
    if (news.stage == "status-ready" && request_.status.value >= 0)
      return within(linux::write_all(request_.status, std::string_view("\0", 1)), "--status-fd");
    if (news.stage == "post-dump") return foresee(config, procfs);
    return {};
  }

  // Called when the images are written and the processes are still stopped. The container can still
  // run on if `restore` would refuse the images.
  Result<void> foresee(const bundle::Config& config, const linux::Procfs& procfs) {
    const bundle::ContainerRecord& record = container_.record();
    auto foreseen = foresee_restore({.config = config,
                                     .record = record,
                                     .procfs = procfs,
                                     .images = images_,
                                     .cgroups = record.cgroup.path.empty()
                                                    ? SavedCgroups::kIgnored
                                                    : request_.settings.saved_cgroups()});
    if (foreseen) return {};
    if (foreseen.error().number() != 0) {
      log_.debug("what restore will say of the images is not known: " + foreseen.error().message());
      return {};
    }
    if (request_.afterwards == Afterwards::kRuns) {
      log_.warn("restore takes these images only with --trust-images: " +
                foreseen.error().message());
      return {};
    }
    has_refused_ = true;
    return within(
        std::move(foreseen),
        "the container runs on, because restore would refuse its images (--leave-running saves it "
        "all the same, and restore --trust-images restores it)");
  }

  // A dump after a pre-dump saves only a part of the container's memory. The total is unknown then.
  std::optional<Amount> memory_saved() {
    if (!memory_ && !request_.parent_path) {
      const auto cgroup = container_.cgroup();
      memory_ = cgroup ? memory_of(**cgroup) : std::nullopt;
    }
    const auto pages = bytes_of_pages(images_);
    if (!pages) return std::nullopt;
    return Amount{.done = *pages, .total = memory_};
  }

  // CRIU freezes the cgroup of a running container. A killed CRIU leaves the cgroup frozen.
  void thaw() const {
    if (status_ != Status::kRunning || container_.status() != Status::kPaused) return;
    const auto thawed = [&]() -> Result<void> {
      OCIRUN_TRY_ASSIGN(const auto cgroup, container_.cgroup());
      return cgroup->freeze(cgroups::FreezerState::kThawed);
    }();
    if (!thawed) log_.warn("the container stays paused: " + thawed.error().message());
  }

  Result<void> await_end() const {
    OCIRUN_TRY_ASSIGN(const bool has_ended, linux::ends_within(container_.init(), kEndPatience));
    if (has_ended) return {};
    return refuse(
        "process {} did not end within {} s after its images were written: end it by ocirun kill "
        "{} KILL",
        container_.record().init_pid, kEndPatience.count(), container_.record().id);
  }

  const GlobalOptions& options_;
  const Container& container_;
  const CheckpointRequest& request_;
  const Log& log_;
  const Status status_ = container_.status();
  UniqueFd images_, work_;
  std::optional<std::uint64_t> memory_;  // of the container, in bytes
  bundle::StandardStreams streams_;
  bool has_refused_ = false;  // if true, ocirun has refused, and the log of CRIU names no cause
};

}  // namespace

Result<void> refuse_ordinary_user() {
  if (is_host_root()) return {};
  return fail(EPERM,
              "only root of the host may checkpoint and restore containers: criu needs "
              "CAP_CHECKPOINT_RESTORE and CAP_SYS_ADMIN of the host");
}

Result<void> checkpoint_container(const GlobalOptions& options, const ContainerId& id,
                                  const CheckpointRequest& request, const Log& log) {
  OCIRUN_TRY(refuse_ordinary_user());
  OCIRUN_TRY_ASSIGN(Container container, Container::load(options, id));
  OCIRUN_TRY(container.lock_and_reload());
  OCIRUN_TRY(refuse_foreign(container.directory()));
  const Status status = container.status();
  if (!can_checkpoint(status))
    return refuse("cannot checkpoint a container that is {}: it must be running or paused",
                  status_name(status));
  OCIRUN_TRY_ASSIGN(const auto added,
                    bundle::read_added_mounts(container.directory().descriptor()));
  if (!added.mounts.empty())
    return refuse(
        "the container has mounts that config.json lacks, so that no restore could make "
        "them: take them away first, by `ocirun mounts remove`");
  if (container.record().learns_calls)
    return refuse(
        "`run --seccomp-learn` notes the system calls of the container: criu does not save its "
        "listener");
  return Dump(options, container, request, log).run();
}

}  // namespace ocirun::runtime
