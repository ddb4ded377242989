#include "pods/run/trial.hpp"

#include "linux/programs/child_call.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {
namespace {

/// Makes the bundles in `trial`. The mounts disappear with the calling process.
Result<void> try_in(const PodDirectory& trial, const Workload& workload, const Settings& settings,
                    const Images& images, const NetworkPlan& network, bool has_cgroup) {
  OCIRUN_TRY(enter_own_mount_namespace());
  const std::string path = trial.path().string();
  OCIRUN_TRY_ASSIGN(const UniqueFd here, trial.open_again());  // in the new mount namespace
  OCIRUN_TRY_ASSIGN(const Store store, Store::open_in(settings.data));
  const Site site{.fd = here, .path = path};
  // Without locks: the pod that is to be replaced holds those of its exclusive volumes.
  OCIRUN_TRY_ASSIGN(const Volumes volumes,
                    prepare_volumes(workload, settings.given, site, Reach::kMounted, ""));
  OCIRUN_TRY_ASSIGN(const PodDevices devices, prepare_devices(workload, settings.given, ""));
  OCIRUN_TRY_ASSIGN(const std::vector<BoundPath> files,
                    write_network_files(settings.name, network.visible(), here, path));
  const Sandbox sandbox{.shared = {},
                        .hostname = settings.name,
                        .root = RootKind::kOverlay,
                        .cgroups_path = {},
                        .powers = powers_here(has_cgroup, network.own_network),
                        .ids = {}};
  OCIRUN_TRY(make_bundles_below({.workload = workload,
                                 .given = settings.given,
                                 .store = store,
                                 .images = images.of,
                                 .volumes = volumes,
                                 .devices = devices,
                                 .sandbox = sandbox,
                                 .network_files = files},
                                site, "containers"));
  return {};
}

}  // namespace

Result<void> try_bundles(const PodsDirectory& pods, const Workload& workload,
                         const Settings& settings, const Images& images, const NetworkPlan& network,
                         bool has_cgroup) {
  OCIRUN_TRY_ASSIGN(const Trial trial, pods.make_trial(settings.name));
  const auto made = linux::call_in_child(
      [&] { return try_in(trial.directory, workload, settings, images, network, has_cgroup); },
      "make the bundles");
  const auto removed = trial.directory.remove();
  OCIRUN_TRY(made);
  return removed;
}

}  // namespace ocirun::pods
