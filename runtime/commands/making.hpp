#pragma once

#include <optional>
#include <string>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/parent/preflight.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// The facts that `create` and `restore` know before they make anything.
struct Document {
  std::string text;  // config.json as it was read; the state directory keeps a copy
  bundle::Config config;
  Preflight host;
};

/// Reads and checks the bundle's config.json, and checks the host.
Result<Document> read_document(const CreateRequest& request, const Log& log);

/// What `create` and `restore` make on the host in the same way, from the claim of the id on. All
/// of it is kept in members, because the undo of a step needs what later steps have made. A class
/// that adds undo steps with members of its own has to call undo.run() in its destructor, while
/// these members exist.
struct Making {
  /// Makes and locks the state directory. From here on nobody else uses the id.
  Result<void> claim_id();
  /// Writes the intent for `delete --force`, before anything outside the state directory is made.
  Result<void> record_intent();
  /// Adds to the intent what was made after record_intent() and what `delete --force` could not
  /// find without the intent.
  Result<void> extend_intent();
  /// Makes the cgroup with its device rules, and marks it.
  Result<void> make_cgroup();
  /// Undoes make_cgroup().
  void destroy_cgroup();
  /// Puts `init`, before its program runs, into the resctrl group of config.json (I-9). Later
  /// children of `init` are in it as well.
  Result<void> join_resctrl(int init);
  void take_net_devices_back();
  /// Leaves the network devices to the container, whose init no longer dies with ocirun.
  void keep_net_devices();

  const GlobalOptions& options;
  const Log& log;
  const CreateRequest& request;
  Document document{};
  // Set by claim_id():
  std::optional<StateDirectory> directory{};
  // `place` is set by the caller, `record` and `intent` by record_intent():
  std::optional<Place> place{};
  bundle::ContainerRecord record{};
  bundle::IntentRecord intent{};
  UniqueFd network_namespace{};  // the container's, from the first moved device on
  bool hooks_have_begun = false;
  // Whether an undo step has failed: the state directory then stays for `delete --force`.
  bool is_left_to_delete = false;
  Rollback undo{};
};

}  // namespace ocirun::runtime
