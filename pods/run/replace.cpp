#include "pods/run/replace.hpp"

#include <cerrno>

#include "linux/base/paths.hpp"
#include "pods/documents/model/digest.hpp"
#include "pods/prepare/devices.hpp"
#include "pods/prepare/plan/bindings.hpp"
#include "pods/run/manage.hpp"
#include "pods/state/record.hpp"
#include "pods/state/request.hpp"

namespace ocirun::pods {
namespace {

using Note = std::function<void(const std::string&)>;

/// The digest of a list of texts. A text is added with its size, and a list with its length.
class Fingerprint {
 public:
  void add(const std::vector<std::string>& texts) {
    add(fmt::format("{}", texts.size()));
    for (const std::string& text : texts) add(text);
  }
  void add(std::string_view text) {
    const std::string size = fmt::format("{}:", text.size());
    hasher_.update(size.data(), size.size());
    hasher_.update(text.data(), text.size());
  }
  std::string digest() { return hasher_.finish().text(); }

 private:
  Hasher hasher_{Digest::Algorithm::kSha256};
};

/// A file that cannot be read counts by its error: the pod may not use it.
void add_secrets(Fingerprint& fingerprint, const Completed& completed) {
  const Bindings& bindings = completed.given().bindings;
  const Secrets secrets{.bindings = bindings, .pod = completed.pod()};
  for (const auto& [id, directory] : bindings.secrets) {
    std::vector<std::string> keys{id};
    const auto files = secrets.files(id);
    if (!files) keys.push_back(files.error().message());
    if (files)
      for (const auto& [key, bytes] : *files) keys.insert(keys.end(), {key, bytes});
    fingerprint.add(keys);
  }
}

/// The files of the devices count, not the devices: a pod that runs has some of its devices for
/// itself, so that the same request would find others now.
Result<void> add_device_files(Fingerprint& fingerprint, const Completed& completed) {
  OCIRUN_TRY_ASSIGN(const PodDevices devices,
                    prepare_devices(completed.workload(), completed.given(), ""));
  for (const auto& [file, text] : devices.files) fingerprint.add({"devices", file, text});
  return {};
}

/// Whether the pod ran when the machine went down. A pod that had ended before keeps its record and
/// logs.
bool died_with_the_machine(const PodRecord& record) {
  const bool ran = record.status == PodStatus::kRunning || record.status == PodStatus::kStarting;
  return ran && !is_of_this_boot(record);
}

/// ENOENT is a success: a supervisor that runs in the foreground removes its pod itself.
Result<void> unless_gone(Result<void> outcome) {
  if (!outcome && outcome.error().number() == ENOENT) return {};
  return outcome;
}

/// Once the directory of the old pod has lost its name, the new pod can be made, whatever else
/// fails: a later `delete` removes what is left.
Result<void> delete_old(const PodsDirectory& pods, const std::string& name, const Note& note) {
  auto deleted = unless_gone(delete_pod(pods, name, Force::kNo));
  if (deleted) return deleted;
  const auto still_there = pods.open_pod(name);
  if (still_there || still_there.error().number() != ENOENT) return deleted;
  if (note)
    note(
        fmt::format("something is left of the old pod \"{0}\", which `ocirun pod delete {0}` "
                    "removes later: {1}",
                    name, deleted.error().message()));
  return {};
}

Result<void> stop_and_delete(const PodsDirectory& pods, const Settings& settings,
                             const Note& note) {
  const auto stopping = begin_stop(pods, settings.name, settings.grace_of_old, Again::kWaits);
  if (!stopping) return unless_gone(std::unexpected(stopping.error()));
  if (*stopping) OCIRUN_TRY(await_stop(**stopping));
  return delete_old(pods, settings.name, note);
}

}  // namespace

Result<std::string> fingerprint_of(const NewPod& pod) {
  const Settings& settings = pod.settings;
  const Given& given = pod.completed.given();
  Fingerprint fingerprint;
  fingerprint.add(pod.completed.workload().text);
  fingerprint.add(settings.shape);
  fingerprint.add(settings.runtime);
  fingerprint.add(settings.log_directory);
  for (const auto& [name, binding] : given.volumes) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(binding.directory.string()));
    fingerprint.add({"volume", name, path.string(), binding.read_only ? "ro" : "rw"});
  }
  for (const auto& [name, value] : given.variables) fingerprint.add({"variable", name, value});
  // A pod of an older ocirun may have opened these ports without being asked.
  if (pod.network.forwards.empty() && !closed_ports(pod.completed.pod()).empty())
    fingerprint.add("closed ports");
  add_secrets(fingerprint, pod.completed);
  OCIRUN_TRY(add_device_files(fingerprint, pod.completed));
  for (const Container* container : all_containers(pod.completed.pod())) {
    const auto image = pod.images.of.find(container);
    OCIRUN_TRY_ASSIGN(const SeccompChoice seccomp, seccomp_of(*container, given));
    fingerprint.add({"container", image == pod.images.of.end() ? "" : image->second.digest.text(),
                     container->bundle ? container->bundle->directory : "",
                     fmt::format("{}", static_cast<int>(seccomp.kind)), seccomp.profile});
  }
  return fingerprint.digest();
}

Result<void> check_name(const PodsDirectory& pods, const Settings& settings) {
  if (settings.replace != Replace::kNo) return {};
  const auto directory = pods.open_pod(settings.name);
  if (!directory) return {};
  const auto record = read_record(directory->fd());
  if (record && died_with_the_machine(*record)) return {};
  return std::unexpected(name_is_taken(settings.name));
}

Result<Room> make_room(const PodsDirectory& pods, const Settings& settings,
                       const std::string& fingerprint, const std::function<Result<void>()>& try_new,
                       const Note& note) {
  const std::string& name = settings.name;
  const auto directory = pods.open_pod(name);
  if (!directory && directory.error().number() == ENOENT) return Room::kFree;
  if (!directory) return std::unexpected(directory.error());
  const auto record = read_record(directory->fd());
  if (record && died_with_the_machine(*record)) {
    OCIRUN_TRY(delete_old(pods, name, note));
    return Room::kFree;
  }
  if (settings.replace == Replace::kNo) return Room::kFree;
  const bool is_up = record && is_supervised(*record);
  const bool runs_well = is_up && record->status == PodStatus::kRunning && !record->is_stopping &&
                         record->reason.empty();
  const auto request = read_request(directory->fd());
  if (settings.replace == Replace::kIfOther && runs_well && request &&
      request->fingerprint == fingerprint)
    return Room::kUnchanged;
  OCIRUN_TRY(within(try_new(), "the pod \"{}\" stays as it is", name));
  if (is_up && note)
    note(fmt::format("stopping the pod \"{}\", which may take {} s", name,
                     settings.grace_of_old.value_or(record->grace).count()));
  OCIRUN_TRY(within(stop_and_delete(pods, settings, note), "replace the pod \"{}\"", name));
  return Room::kReplaced;
}

}  // namespace ocirun::pods
