#include "runtime/state/record.hpp"

#include "cgroups/open_cgroup.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

bundle::StateDocument document_of(const bundle::ContainerRecord& record) {
  return {.oci_version = record.oci_version,
          .id = record.id,
          .status = Status::kUnknown,
          .pid = 0,
          .bundle = record.bundle,
          .rootfs = record.rootfs,
          .created = record.created,
          .owner = "",
          .annotations = record.annotations};
}

Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record) {
  if (is_without_cgroup(record)) return cgroups::disabled_cgroup();
  return cgroups::open_cgroup(record.cgroup);
}

bool is_frozen(const bundle::ContainerRecord& record) {
  if (is_without_cgroup(record)) return false;
  const auto state = cgroups::freezer_state_of(record.cgroup);
  return state && *state == cgroups::FreezerState::kFrozen;
}

bool is_without_cgroup(const bundle::ContainerRecord& record) {
  return record.cgroup_manager == CgroupManager::kDisabled || record.cgroup.path.empty();
}

}  // namespace ocirun::runtime
