// The tables of state.json, intent.json and the mark of a cgroup. The tables are strict, because a
// file may be half-written or forged.

#include <limits>

#include "bundle/config/sections.hpp"
#include "bundle/documents/state.hpp"
#include "bundle/json/record.hpp"

namespace ocirun::bundle {
namespace {

constexpr int kFormat = 1;
constexpr Range kPid = range(0, std::numeric_limits<std::int32_t>::max());

using Directory = std::pair<std::string, std::string>;

constexpr auto kDirectory =
    exact_fields<Directory>(required("controllers", &Directory::first, text),
                            required("directory", &Directory::second, absolute_path));

constexpr auto kCgroup = exact_fields<cgroups::Record>(
    required("path", &cgroups::Record::path, text),
    required("directories", &cgroups::Record::directories, list_of(kDirectory)),
    required("createdParents", &cgroups::Record::created_parents, list_of(absolute_path)),
    required("handedDown", &cgroups::Record::handed_down, list_of(kDirectory)),
    field("unit", &cgroups::Record::unit, nonempty_text),
    field("userInstance", &cgroups::Record::user_instance, flag));

constexpr auto kResctrl = exact_fields<linux::ResctrlGroups>(
    required("closPath", &linux::ResctrlGroups::clos_path, text),
    required("monitorPath", &linux::ResctrlGroups::monitor_path, text));

constexpr auto kPins = exact_fields<NamespacePinRecord>(
    required("directory", &NamespacePinRecord::directory, absolute_path),
    required("mount", &NamespacePinRecord::mount, whole_number),
    required("isNewDirectory", &NamespacePinRecord::is_new_directory, flag));

constexpr RecordWord<cgroups::kManagerNames> kManager{"cgroup manager"};

constexpr auto kRecord = exact_fields<ContainerRecord>(
    required("format", &ContainerRecord::format, RecordFormat{kFormat}),
    required("id", &ContainerRecord::id, nonempty_text),
    required("ociVersion", &ContainerRecord::oci_version, text),
    required("bundle", &ContainerRecord::bundle, text),
    required("rootfs", &ContainerRecord::rootfs, text),
    required("created", &ContainerRecord::created, text),
    required("ownerUid", &ContainerRecord::owner_uid, whole_number),
    required("initPid", &ContainerRecord::init_pid, kPid),
    required("initStartTime", &ContainerRecord::init_start_time, whole_number),
    written("initImage", &ContainerRecord::init_image, text),
    required("bootId", &ContainerRecord::boot_id, text),
    required("cgroup", &ContainerRecord::cgroup, kCgroup),
    required("cgroupManager", &ContainerRecord::cgroup_manager, kManager),
    field("cgroupMark", &ContainerRecord::cgroup_mark, nonempty_text),
    required("hasPoststart", &ContainerRecord::has_poststart, flag),
    required("hasPoststop", &ContainerRecord::has_poststop, flag),
    required("ownPidNamespace", &ContainerRecord::own_pid_namespace, flag),
    field("newKeyring", &ContainerRecord::new_keyring, flag),
    required("mountsOnHost", &ContainerRecord::mounts_on_host, flag),
    field("rootfsMount", &ContainerRecord::rootfs_mount, whole_number),
    field("namespacePins", &ContainerRecord::namespace_pins, kPins),
    field("learnsCalls", &ContainerRecord::learns_calls, flag),
    required("hasProcess", &ContainerRecord::has_process, flag),
    required("stopSignal", &ContainerRecord::stop_signal, text),
    field("attendantPid", &ContainerRecord::attendant_pid, kPid),
    field("attendantStartTime", &ContainerRecord::attendant_start_time, whole_number),
    field("resctrl", &ContainerRecord::resctrl, kResctrl),
    required("annotations", &ContainerRecord::annotations, read_annotations));

constexpr auto kIntent = exact_fields<IntentRecord>(
    required("record", &IntentRecord::record, kRecord),
    required("runtimePid", &IntentRecord::runtime_pid, kPid),
    required("runtimeStartTime", &IntentRecord::runtime_start_time, whole_number));

constexpr auto kOneLine = JsonWriter::Layout::kOneLine;

}  // namespace

std::string cgroup_text(const cgroups::Record& cgroup) {
  return text_of(kCgroup, cgroup, kOneLine);
}
Result<cgroups::Record> parse_cgroup(std::string_view text) {
  return parse_record("cgroup's mark", text, kCgroup);
}

std::string record_text(const ContainerRecord& record) {
  return text_of(kRecord, record, kOneLine);
}
Result<ContainerRecord> parse_record(std::string_view text) {
  return parse_record("state record", text, kRecord);
}

std::string intent_text(const IntentRecord& intent) { return text_of(kIntent, intent, kOneLine); }
Result<IntentRecord> parse_intent(std::string_view text) {
  return parse_record("intent record", text, kIntent);
}

}  // namespace ocirun::bundle
