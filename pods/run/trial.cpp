#include "pods/run/trial.hpp"

#include "linux/programs/child_call.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/prepare/program_lookup.hpp"
#include "pods/run/runtime.hpp"

namespace ocirun::pods {
namespace {

/// Looks whether the program of the container can be executed.
Result<void> try_program(const Workload& workload, const ReadyContainer& ready) {
  auto found = check_program(ready.bundle);
  if (found) return {};
  const std::string& program = ready.launch.args.front();
  return within(within(std::move(found), "container \"{}\"", ready.container->name),
                workload.at(place_of_program(*ready.container, program)));
}

/// Makes the bundles in `trial`. The mounts disappear with the calling process.
Result<void> try_in(const PodDirectory& trial, const NewPod& pod) {
  const Workload& workload = pod.completed.workload();
  const Given& given = pod.completed.given();
  const std::string& name = pod.settings.name;
  OCIRUN_TRY(enter_own_mount_namespace());
  const std::string path = trial.path().string();
  OCIRUN_TRY_ASSIGN(const UniqueFd here, trial.open_again());  // in the new mount namespace
  OCIRUN_TRY_ASSIGN(const Store store, Store::open_in(pod.settings.data));
  const Site site{.fd = here, .path = path};
  // Without locks: the pod that is to be replaced holds those of its exclusive volumes.
  OCIRUN_TRY_ASSIGN(const Volumes volumes,
                    prepare_volumes(workload, given, site, Reach::kMounted, ""));
  OCIRUN_TRY_ASSIGN(const PodDevices devices, prepare_devices(workload, given, ""));
  OCIRUN_TRY_ASSIGN(const std::vector<BoundPath> files,
                    write_network_files(name, pod.network.visible(), here, path));
  const Sandbox sandbox{.shared = {},
                        .hostname = name,
                        .root = RootKind::kOverlay,
                        .cgroups_path = {},
                        .powers = powers_here(pod.has_cgroup(), pod.network.own_network),
                        .ids = {}};
  OCIRUN_TRY_ASSIGN(const std::vector<ReadyContainer> made,
                    make_bundles_below({.completed = pod.completed,
                                        .store = store,
                                        .images = pod.images.of,
                                        .volumes = volumes,
                                        .devices = devices,
                                        .sandbox = sandbox,
                                        .network_files = files},
                                       site, "containers"));
  for (const ReadyContainer& ready : made) OCIRUN_TRY(try_program(workload, ready));
  return {};
}

}  // namespace

Result<void> try_bundles(const PodsDirectory& pods, const NewPod& pod) {
  OCIRUN_TRY_ASSIGN(const Trial trial, pods.make_trial(pod.settings.name));
  const auto made =
      linux::call_in_child([&] { return try_in(trial.directory, pod); }, "make the bundles");
  const auto removed = trial.directory.remove();
  OCIRUN_TRY(made);
  return removed;
}

}  // namespace ocirun::pods
