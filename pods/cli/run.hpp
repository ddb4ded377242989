#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "pods/cli/commands.hpp"
#include "pods/images/store.hpp"
#include "pods/prepare/complete.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods::cli {

/// How `start` and `restart` run a pod again.
struct Repetition {
  std::string text;  // of the document; a bundle is read again in any case
  Replace replace = Replace::kIfOther;
  std::optional<std::chrono::seconds> grace;  // to stop the pod; nothing: the pod's own
  bool adopts = false;                        // adopt_pod() takes the place of run_pod()
};

/// Runs the pod of a document. `command` is the command in messages, and `arguments` are those of
/// `run`. Returns the exit status.
Result<int> run_document(const Command& command, const Arguments& arguments, const Caller& caller,
                         const std::optional<Repetition>& repetition);

/// Shows on a terminal which layer of an image is unpacked.
void show_unpacking(const std::string& image, const AddProgress& progress);

/// The settings of `run`. `file` is the operand of the command. Errors name the option.
Result<Settings> read_run_settings(const Arguments& arguments, const Caller& caller,
                                   const Workload& workload, const std::string& file);
/// Completes the workload of `run` by the options. Errors: those of complete(); an option that
/// read_given() or read_publishing() refuses.
Result<Completed> complete_to_run(Workload workload, const Arguments& arguments,
                                  const Caller& caller, const Settings& settings,
                                  Audience audience = Audience::kThisMachine);
/// The time of --wait-ready without a number.
inline constexpr std::chrono::seconds kReadyWithin{300};

/// The options of ocirun before `pod`, with absolute paths, because later commands for the pod may
/// have another working directory.
Result<std::vector<std::string>> with_absolute_paths(std::vector<std::string> options);
/// Reads the document or the bundle that `arguments`, which are those of `run`, name. With
/// `repetition`, the text of the document is `repetition->text`. Errors: those of
/// read_workload_to_run(); --profile with an option for documents.
Result<Workload> read_workload_of(const Arguments& arguments, const Caller& caller,
                                  const std::optional<Repetition>& repetition);
/// The request that `start` and `restart` repeat.
Result<RunRequest> request_of(const Arguments& arguments, const Caller& caller,
                              const Completed& completed);
/// The request that the pod `name` was run with. Errors: the pod has no run.json.
Result<RunRequest> request_of_pod(const PodsDirectory& pods, const std::string& name);

/// Refuses a StatefulSet that runs already under its own name, without an ordinal: the new pod and
/// the running one would have the same volumes.
Result<void> check_name_of_set(const Settings& settings, const Workload& workload);

/// The network of --net, else the one that a bundle asks for. Errors: another value.
Result<NetworkChoice> read_network(const Arguments& arguments, const Workload& workload);
/// --publish and --publish-all. Errors: another form; nobody forwards ports in the network
/// `choice`.
Result<Publishing> read_publishing(const Arguments& arguments, const NetworkChoice& choice);

}  // namespace ocirun::pods::cli
