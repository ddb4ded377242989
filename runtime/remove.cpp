#include "runtime/remove.hpp"

#include "runtime/container.hpp"
#include "runtime/destroy.hpp"

namespace ocirun::runtime {
namespace {

// What can be known of a container: the state file, else the intent, else its id alone.
bundle::ContainerRecord best_record(const StateDirectory& directory, const ContainerId& id) {
  if (auto record = directory.read_record()) return std::move(*record);
  if (const auto intent = directory.read_intent()) return record_from_intent(*intent);
  bundle::ContainerRecord record;
  record.id = id.string();
  return record;
}

Result<void> delete_by_force(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  const auto directory = store.find(id);
  if (!directory) return {};  // containerd's shim asks for every container a second time
  TRY(directory->lock(kLockPatience));
  return destroy_container(*directory, best_record(*directory, id), log);
}

}  // namespace

Result<void> delete_container(const GlobalOptions& options, const ContainerId& id, Force force,
                              const Log& log) {
  if (force == Force::kYes) return delete_by_force(options, id, log);
  TRY_ASSIGN(Container container, Container::load(options, id));
  TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_delete(status))
    return refuse(
        "cannot delete container {} that is not stopped: {}; kill it first, or give --force",
        id.string(), status_name(status));
  return destroy_container(container.directory(), container.record(), log);
}

}  // namespace ocirun::runtime
