#include "runtime/create.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "linux/capabilities.hpp"
#include "linux/file_io.hpp"
#include "linux/pidfd.hpp"
#include "linux/procfs.hpp"
#include "linux/resctrl.hpp"
#include "linux/syscalls.hpp"
#include "linux/terminal.hpp"
#include "runtime/destroy.hpp"
#include "runtime/init_link.hpp"
#include "runtime/preflight.hpp"
#include "runtime/rollback.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

bundle::ContainerRecord make_record(const CreateRequest& request, const bundle::Config& config, const GlobalOptions& options,
                                    const cgroups::Record& cgroup) {
  bundle::ContainerRecord record;
  record.id = request.id.string();
  record.oci_version = config.oci_version;
  record.bundle = request.bundle.string();
  record.rootfs = config.root_path.string();
  record.created = rfc3339_now(9);
  record.owner_uid = ::geteuid();
  record.cgroup = cgroup;
  record.cgroup_manager = options.cgroup_manager == CgroupManager::kDisabled ? "disabled" : "cgroupfs";
  record.has_poststart = !config.hooks.of(hooks::Kind::kPoststart).empty();
  record.has_poststop = !config.hooks.of(hooks::Kind::kPoststop).empty();
  record.own_pid_namespace = config.namespaces.creates(NamespaceKind::kPid);
  record.mounts_on_host = !config.namespaces.contains(NamespaceKind::kMount);
  record.has_process = config.process.has_value();
  if (const auto stop = config.annotations.find("org.opencontainers.image.stopSignal"); stop != config.annotations.end())
    record.stop_signal = stop->second;
  record.annotations = config.annotations;
  return record;
}

bundle::IntentRecord make_intent(const bundle::ContainerRecord& record, const bundle::Config& config) {
  bundle::IntentRecord intent;
  intent.id = record.id;
  intent.bundle = record.bundle;
  intent.rootfs = record.rootfs;
  intent.mounts_on_host = record.mounts_on_host;
  intent.cgroup_manager = record.cgroup_manager;
  intent.cgroup = record.cgroup;
  intent.net_devices = config.net_devices;
  intent.runtime_pid = ::getpid();
  if (const auto stat = linux::read_process_stat(intent.runtime_pid)) intent.runtime_start_time = stat->start_time;
  return intent;
}

Result<void> write_oom_score(const linux::Procfs& procfs, const bundle::Config& config, int pid) {
  if (!config.process || !config.process->oom_score_adj) return {};
  return within(procfs.write(fmt::format("{}/oom_score_adj", pid), fmt::format("{}", *config.process->oom_score_adj)),
                fmt::format("/process/oomScoreAdj: set {} (lowering it wants CAP_SYS_RESOURCE)", *config.process->oom_score_adj));
}

// I-9: before the program runs.
Result<void> join_resctrl(const bundle::Config& config, const HostPath* root, bundle::ContainerRecord& record, int pid, Rollback& undo) {
  if (!config.intel_rdt) return {};
  TRY_ASSIGN(record.resctrl, within(linux::apply_resctrl(*root, *config.intel_rdt, record.id, pid), "/linux/intelRdt"));
  undo.add([groups = *record.resctrl] { [[maybe_unused]] const auto ignored = linux::remove_resctrl(groups); });
  return {};
}

Result<std::string> read_boot_id() {
  TRY_ASSIGN(const UniqueFd fd, linux::sys::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  TRY_ASSIGN(std::string id, linux::sys::read_all(fd, 128));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

// Whatever tells the world that the container exists; undone as long as init may still fail.
Result<void> publish(const CreateRequest& request, const StateDirectory& directory, bundle::ContainerRecord& record,
                     const linux::Child& init, Rollback& undo) {
  record.init_pid = init.pid;
  TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(init.pid));
  record.init_start_time = stat.start_time;
  TRY_ASSIGN(record.boot_id, read_boot_id());
  TRY(directory.commit(record));
  if (request.pid_file) {
    TRY(within(linux::replace_file(*request.pid_file, fmt::format("{}", init.pid), 0644), "--pid-file"));
    undo.add([&request] { ::unlink(request.pid_file->c_str()); });
  }
  if (request.pidfd_socket) {
    TRY_ASSIGN(const UniqueFd socket, within(linux::connect_unix(*request.pidfd_socket), "--pidfd-socket"));
    TRY(linux::send_descriptor(socket, init.pidfd, "pidfd"));
  }
  return {};
}

}  // namespace

Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log, const CreateRequest& request) {
  TRY_ASSIGN(const std::string text, bundle::read_config_file(request.bundle));
  bundle::Parsed parsed = bundle::parse_config(text, request.bundle);
  for (const std::string& warning : parsed.warnings) log.warn(warning);
  TRY_ASSIGN(bundle::Config config, std::move(parsed).take());
  TRY_ASSIGN(const Preflight host, check_host(config, request, log));

  Rollback undo;
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsCreated));
  TRY_ASSIGN(StateDirectory directory, store.create(request.id));
  undo.add([&] { [[maybe_unused]] const auto ignored = directory.remove(); });
  TRY(directory.lock(kLockPatience));

  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::unique_ptr<cgroups::Cgroup> cgroup = cgroups::disabled_cgroup();
  cgroups::Layout layout;
  if (options.cgroup_manager != CgroupManager::kDisabled) {
    TRY_ASSIGN(layout, cgroups::read_layout(procfs));
    TRY_ASSIGN(const cgroups::Placement placement, cgroups::place(config.cgroups_path, request.id.string()));
    TRY_ASSIGN(cgroup, cgroups::make_cgroup(layout, placement));
  }
  bundle::ContainerRecord record = make_record(request, config, options, cgroup->record());
  TRY(directory.write_intent(make_intent(record, config)));
  TRY(directory.write_config(text));

  bool hooks_have_begun = false;
  undo.add([&] { if (hooks_have_begun) run_poststop(config, record, log); });  // H-11: after all else is undone

  InitPlan plan{.id = request.id.string(),
                .config = config,
                .state = document_of(record),
                .pinned = {},
                .cgroup = {},
                .cgroup_hierarchies = {},
                .start_socket = {},
                .preserved_descriptors = request.preserved_descriptors,
                .umask = request.umask,
                .pivot = request.pivot,
                .new_keyring = request.new_keyring};
  TRY_ASSIGN(plan.start_socket, directory.listen_for_start());
  TRY_ASSIGN(plan.pinned, linux::pin_namespaces(config.namespaces));
  TRY(compare_joined_id_map(config, plan.pinned));

  undo.add([&] { [[maybe_unused]] const auto ignored = cgroup->destroy(); });
  const std::vector<cgroups::DeviceRule> no_rules;
  TRY(within(cgroup->create(config.resources ? config.resources->devices : no_rules), "make the cgroup"));
  record.cgroup = cgroup->record();
  TRY_ASSIGN(plan.cgroup, cgroup->open_for_join());
  plan.cgroup_hierarchies = describe_hierarchies(layout, record.cgroup);
  if (record.mounts_on_host) undo.add([&] { [[maybe_unused]] const auto ignored = detach_host_rootfs(record.rootfs); });

  InitLink init(plan, {.request = request,
                       .log = log,
                       .directory = directory,
                       .cgroup = *cgroup,
                       .procfs = procfs,
                       .console = host.console,
                       .undo = undo});
  undo.add([&] { hooks_have_begun = init.hooks_have_begun(); });
  TRY(init.spawn());
  TRY(write_oom_score(procfs, config, init.pid()));
  TRY(init.apply_resources());  // from here to Ready both sides work at once
  TRY(init.compile_filter());
  TRY(init.serve());
  TRY(join_resctrl(config, host.resctrl ? &*host.resctrl : nullptr, record, init.pid(), undo));
  TRY(publish(request, directory, record, init.child(), undo));
  TRY(init.detach());
  undo.commit();
  return CreatedContainer{.directory = std::move(directory),
                          .config = std::move(config),
                          .record = std::move(record),
                          .init = init.take_child(),
                          .terminal = init.take_terminal()};
}

}  // namespace ocirun::runtime
