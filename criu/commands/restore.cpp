#include "criu/commands/restore.hpp"

#include <unistd.h>

#include <cerrno>

#include "criu/commands/checkpoint.hpp"
#include "criu/commands/restoration.hpp"
#include "criu/compare/fit.hpp"
#include "criu/dump/check.hpp"
#include "criu/launch/restored_processes.hpp"
#include "criu/request/conversation.hpp"
#include "criu/request/criu_log.hpp"
#include "criu/request/criu_process.hpp"
#include "criu/request/options.hpp"
#include "criu/request/outside.hpp"
#include "criu/request/prepared_sources.hpp"
#include "criu/request/read_only_host.hpp"
#include "linux/base/timeline.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/filter_bytes.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/making.hpp"
#include "runtime/commands/remove.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/init/process.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kRestoreLog[] = "restore.log";

/// The directories that the caller names, and the facts that were read from the images.
struct SavedContainer {
  UniqueFd images, work;
  Images read;
};

// Namespaces are compared with --trust-images too: in a namespace of the host, criu would change
// the host.
Result<void> check_saved(const Images& images, const bundle::Config& config,
                         const RestoreRequest& request) {
  Obstacles obstacles;
  compare_namespaces(images, config, obstacles);
  if (obstacles.empty() && request.trust == TrustImages::kNo)
    OCIRUN_TRY(check_images(images, config, request.settings.saved_cgroups(), obstacles));
  return obstacles.empty() ? Result<void>{} : refuse("{}", obstacles.front());
}

Result<SavedContainer> open_saved(const RestoreRequest& request, const bundle::Config& config,
                                  const Log& log) {
  SavedContainer saved;
  OCIRUN_TRY_ASSIGN(saved.images, open_images(request.settings.images, request.trust));
  auto read = read_images(saved.images, request.trust, request.settings.saved_cgroups());
  if (read) {
    OCIRUN_TRY(check_saved(*read, config, request));
    OCIRUN_TRY(check_saved_network(*read, config, request.settings, log));
    saved.read = *std::move(read);
  } else if (request.trust == TrustImages::kNo) {  // CRIU reports the errors of trusted images
    return std::unexpected(std::move(read).error());
  }
  OCIRUN_TRY_ASSIGN(saved.work, open_or_make_directory(request.settings.work, "--work-path"));
  return saved;
}

// Deletes a stopped container with this id. A checkpointed container is stopped, and its record
// still exists.
Result<void> make_way(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  const auto stopped = Container::load(options, id);
  if (!stopped || stopped->status() != Status::kStopped) return {};
  return delete_container(options, id, Force::kNo, log);
}

// Makes the things that `create` makes too: state directory, intent, mount points, cgroup.
Result<void> make_cgroup_and_places(Making& made, CgroupMode mode) {
  const bundle::Config& config = made.document.config;
  OCIRUN_TRY(made.claim_id());
  OCIRUN_TRY_ASSIGN(made.place,
                    choose_place(made.options, config, made.request.id.string(), made.log));
  OCIRUN_TRY(check_absence(made.place->cgroup->record(), mode));
  OCIRUN_TRY(made.record_intent());
  OCIRUN_TRY(make_mount_points(config));
  OCIRUN_TRY(made.make_cgroup());
  return config.resources ? made.place->cgroup->apply(*config.resources) : Result<void>{};
}

// Writes the seccomp filter of config.json to the state directory, because `exec` loads the filter.
Result<void> keep_filter(const Making& made) {
  const auto& seccomp = made.document.config.seccomp;
  if (!seccomp) return {};
  std::vector<std::string> warnings;
  OCIRUN_TRY_ASSIGN(const auto filter, linux::compile_seccomp(*seccomp, warnings));
  for (const std::string& warning : warnings) made.log.debug(warning);
  return made.directory->write_filter(linux::filter_bytes(filter));
}

// Whether the files of the host are made read-only for CRIU, so that forged images cannot make CRIU
// write to these files.
bool makes_host_read_only(TrustImages trust, const bundle::Config& config, const Log& log) {
  if (trust == TrustImages::kYes) return false;
  const bool is_possible = can_make_host_read_only();
  if (!is_possible)
    log.warn(
        "this kernel is older than Linux 5.12: criu can write to every file of the host, and "
        "forged images can make it do so: restore only images whose origin is known");
  if (!config.namespaces.contains(linux::NamespaceKind::kPid))
    log.warn(
        "the container has no pid namespace: forged images can lead criu through /proc to files of "
        "the host: restore only images whose origin is known");
  return is_possible;
}

// True also for a container without a cgroup of its own, because the cgroups that the images name
// do not belong to such a container.
bool ignores_cgroups(const Making& made, CgroupMode mode) {
  return mode == CgroupMode::kIgnore || made.record.cgroup.path.empty();
}

Result<RestoredContainer> restore_processes(const RestoreInput& input, const std::string& program,
                                            Making& made, Restoration& stages) {
  OCIRUN_TRY_ASSIGN(std::vector<std::string> words, words_for_restore(input, kRestoreLog));
  linux::CriuLaunch launch;
  launch.program = program;
  for (const linux::PinnedNamespace& pinned : input.pinned) launch.passed.push_back(pinned.fd);
  launch.images = input.images;
  launch.work = input.work;
  launch.before = [&](linux::CriuLaunch& in_child) { return prepare_criu(input, in_child); };
  const CriuLog criu_log{input.work, input.settings.work.string(), kRestoreLog};
  OCIRUN_TRY(remove_old(criu_log));
  const auto memory_restored = [&]() -> std::optional<Amount> {
    const auto memory = memory_of(*made.place->cgroup);
    if (!memory) return std::nullopt;
    return Amount{.done = *memory, .total = bytes_of_pages(input.images)};
  };
  const linux::CriuProcesses processes(input.procfs);
  Progress progress(Fd{STDERR_FILENO}, "restore " + made.request.id.string(), memory_restored);
  linux::timeline::step("restore the processes");
  const linux::timeline::ProgramSpan program_of_criu("criu", program);
  auto restored = talk_with_criu(
      launch, std::move(words), made.log, [&](auto& news) { return stages.pass(news); }, progress);
  auto container = stages.take();
  // CRIU has ended. A killed CRIU leaves behind the processes of the unfinished restore.
  if (!restored || !container) processes.kill();
  if (!restored && stages.has_refused()) return std::unexpected(std::move(restored).error());
  if (!restored) return std::unexpected(explain_by_log(std::move(restored).error(), criu_log));
  if (!container)
    return refuse(
        "criu has restored the container without the stage pre-resume, in which its processes are "
        "compared with config.json");
  return *std::move(container);
}

void destroy_after(const Error& error, const StateDirectory& directory,
                   const bundle::ContainerRecord& record, const Log& log) {
  // EBUSY: another command works on the container.
  if (!directory.exists() || error.number() == EBUSY) return;
  const auto destroyed = destroy_container(directory, record, log);
  if (!destroyed) log.warn(destroyed.error().message());
}

Result<RestoredContainer> restore_into(Making& made, SavedContainer saved, const std::string& criu,
                                       const RestoreRequest& request) {
  const bundle::Config& config = made.document.config;
  const CriuSettings& settings = request.settings;
  OCIRUN_TRY_ASSIGN(const auto pinned, linux::pin_namespaces(config.namespaces));
  OCIRUN_TRY(make_cgroup_and_places(made, settings.cgroups));
  OCIRUN_TRY(keep_filter(made));
  const auto hierarchies = describe_hierarchies(made.place->layout, made.record.cgroup);
  const std::vector<OutsideMount> outside = outside_mounts(config, hierarchies);
  const bool has_read_only_host = makes_host_read_only(request.trust, config, made.log);
  std::string prepared;
  if (has_read_only_host || needs_prepared_sources(config)) {
    OCIRUN_TRY_ASSIGN(const auto paths, paths_of_criu(config, settings, saved.images, criu));
    OCIRUN_TRY_ASSIGN(prepared, place_for_sources(paths));
  }
  OCIRUN_TRY_ASSIGN(const cgroups::Cgroup::JoinHandles join, made.place->cgroup->open_for_join());
  if (!config.net_devices.empty()) made.undo.add([&made] { made.take_net_devices_back(); });
  const bool ignores = ignores_cgroups(made, settings.cgroups);
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  Restoration stages(made, {.procfs = procfs,
                            .images = saved.read,
                            .trust = request.trust,
                            .pinned = pinned,
                            .join = join,
                            .ignores_cgroups = ignores});
  return restore_processes({.config = config,
                            .settings = settings,
                            .procfs = procfs,
                            .cgroup = made.record.cgroup.path,
                            .outside = outside,
                            .prepared = prepared,
                            .has_read_only_host = has_read_only_host,
                            .pinned = pinned,
                            .join = join,
                            .ignores_cgroups = ignores,
                            .has_new_keyring = request.create.new_keyring,
                            .images = saved.images,
                            .work = saved.work},
                           criu, made, stages);
}

}  // namespace

Result<CreatedContainer> restore_container(const GlobalOptions& options, const Log& log,
                                           const RestoreRequest& request) {
  OCIRUN_TRY(refuse_ordinary_user());
  linux::timeline::step("read config.json");
  Making made{.options = options, .log = log, .request = request.create};
  OCIRUN_TRY_ASSIGN(made.document, read_document(request.create, log));
  OCIRUN_TRY(check_can_be_checkpointed(made.document.config));
  linux::timeline::step("read the images");
  // Opens the images before anything is removed or made, because the paths may be wrong.
  OCIRUN_TRY_ASSIGN(SavedContainer saved, open_saved(request, made.document.config, log));
  OCIRUN_TRY_ASSIGN(const std::string criu, linux::find_criu(options.criu));
  linux::timeline::step("make way");
  OCIRUN_TRY(make_way(options, request.create.id, log));
  linux::timeline::step("make the surroundings");
  OCIRUN_TRY_ASSIGN(RestoredContainer restored,
                    restore_into(made, std::move(saved), criu, request));
  made.keep_net_devices();
  made.undo.commit();
  linux::timeline::step("poststart hooks");
  if (auto started = run_poststart(*made.directory, made.record, log); !started) {
    destroy_after(started.error(), *made.directory, made.record, log);
    return std::unexpected(std::move(started).error());
  }
  return CreatedContainer{.directory = std::move(*made.directory),
                          .record = std::move(made.record),
                          .init = std::move(restored.init),
                          .terminal = std::move(restored.terminal),
                          .notify_socket = UniqueFd()};
}

}  // namespace ocirun::runtime
