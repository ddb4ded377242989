#include "pods/surroundings/pod_slice.hpp"

#include "cgroups/systemd/slice.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/surroundings/pod_cgroup.hpp"

namespace ocirun::pods {
namespace {

cgroups::SystemdInstance instance() {
  return linux::is_in_initial_user_namespace() ? cgroups::SystemdInstance::kSystem
                                               : cgroups::SystemdInstance::kUser;
}

Result<cgroups::Layout> read_layout() {
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  return cgroups::read_layout(procfs);
}

}  // namespace

std::string slice_name_for(const std::string& pod) {
  return fmt::format("ocirun-{}.slice", cgroups::escape_slice_part(pod));
}

std::string cgroups_path_in(const std::string& slice, const std::string& id) {
  return fmt::format("{}:ocirun:{}", slice, id);
}

std::string scope_name_for(const std::string& id) { return fmt::format("ocirun-{}.scope", id); }

Result<std::string> find_pod_slice(const std::string& slice) {
  TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  TRY_ASSIGN(const cgroups::Slice found,
             within(cgroups::Slice::find(layout, slice, instance()), "the pod's slice"));
  return found.path();
}

Result<void> make_pod_slice(const std::string& path, const std::string& pod,
                            const Amounts& limits) {
  TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  cgroups::Slice slice(layout, path, instance());
  return within(slice.create("ocirun pod " + pod, resources_of(limits)), "the pod's slice");
}

Result<void> remove_pod_slice(const std::string& path) {
  TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  cgroups::Slice slice(layout, path, instance());
  return within(slice.destroy(), fmt::format("the pod's slice {}", path));
}

}  // namespace ocirun::pods
