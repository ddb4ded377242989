// Reads and writes state.json, intent.json and the mark of a cgroup. The readers are strict,
// because a file may be half-written or forged.

#include <limits>

#include "bundle/config/sections.hpp"
#include "bundle/documents/state.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

constexpr int kFormat = 1;
constexpr Range kPid = range(0, std::numeric_limits<std::int32_t>::max());

using Directory = std::pair<std::string, std::string>;

void write_directories(JsonWriter& out, const std::vector<Directory>& directories) {
  out.begin_array();
  for (const auto& [controllers, directory] : directories)
    out.begin_object()
        .member("controllers", controllers)
        .member("directory", directory)
        .end_object();
  out.end_array();
}

void write_cgroup(JsonWriter& out, const cgroups::Record& cgroup) {
  out.begin_object();
  out.member("path", cgroup.path);
  out.key("directories");
  write_directories(out, cgroup.directories);
  out.member("createdParents", cgroup.created_parents);
  out.key("handedDown");
  write_directories(out, cgroup.handed_down);
  if (!cgroup.unit.empty())
    out.member("unit", cgroup.unit).member("userInstance", cgroup.user_instance);
  out.end_object();
}

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

constexpr auto cgroup_manager = word_of<cgroups::kManagerNames>("cgroup manager");

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
    field("initImage", &ContainerRecord::init_image, text),
    required("bootId", &ContainerRecord::boot_id, text),
    required("cgroup", &ContainerRecord::cgroup, kCgroup),
    required("cgroupManager", &ContainerRecord::cgroup_manager, cgroup_manager),
    field("cgroupMark", &ContainerRecord::cgroup_mark, nonempty_text),
    required("hasPoststart", &ContainerRecord::has_poststart, flag),
    required("hasPoststop", &ContainerRecord::has_poststop, flag),
    required("ownPidNamespace", &ContainerRecord::own_pid_namespace, flag),
    field("newKeyring", &ContainerRecord::new_keyring, flag),
    required("mountsOnHost", &ContainerRecord::mounts_on_host, flag),
    field("rootfsMount", &ContainerRecord::rootfs_mount, whole_number),
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

template <typename Record>
Result<Record> parse(std::string_view what, std::string_view text, const auto& table) {
  Report report;
  Document document;
  Record record;
  if (document.parse(text, report)) table(Value(*document.root(), report), record);
  if (!report.ok()) return refuse("{}: {}", what, report.problems().front());
  return record;
}

void write_record(JsonWriter& out, const ContainerRecord& record) {
  out.begin_object();
  out.member("format", kFormat);
  out.member("id", record.id);
  out.member("ociVersion", record.oci_version);
  out.member("bundle", record.bundle);
  out.member("rootfs", record.rootfs);
  out.member("created", record.created);
  out.member("ownerUid", record.owner_uid);
  out.member("initPid", record.init_pid);
  out.member("initStartTime", record.init_start_time);
  out.member("initImage", record.init_image);
  out.member("bootId", record.boot_id);
  out.key("cgroup");
  write_cgroup(out, record.cgroup);
  out.member("cgroupManager", name_of(cgroups::kManagerNames, record.cgroup_manager));
  if (!record.cgroup_mark.empty()) out.member("cgroupMark", record.cgroup_mark);
  out.member("hasPoststart", record.has_poststart);
  out.member("hasPoststop", record.has_poststop);
  out.member("ownPidNamespace", record.own_pid_namespace);
  if (!record.new_keyring) out.member("newKeyring", false);
  out.member("mountsOnHost", record.mounts_on_host);
  if (record.rootfs_mount) out.member("rootfsMount", *record.rootfs_mount);
  out.member("hasProcess", record.has_process);
  out.member("stopSignal", record.stop_signal);
  if (record.attendant_pid != 0)
    out.member("attendantPid", record.attendant_pid)
        .member("attendantStartTime", record.attendant_start_time);
  if (record.resctrl)
    out.key("resctrl")
        .begin_object()
        .member("closPath", record.resctrl->clos_path)
        .member("monitorPath", record.resctrl->monitor_path)
        .end_object();
  out.member("annotations", record.annotations);
  out.end_object();
}

}  // namespace

std::string cgroup_text(const cgroups::Record& cgroup) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  write_cgroup(out, cgroup);
  return std::move(out).take();
}

Result<cgroups::Record> parse_cgroup(std::string_view text) {
  return parse<cgroups::Record>("cgroup's mark", text, kCgroup);
}

std::string record_text(const ContainerRecord& record) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  write_record(out, record);
  return std::move(out).take();
}

Result<ContainerRecord> parse_record(std::string_view text) {
  return parse<ContainerRecord>("state record", text, kRecord);
}

std::string intent_text(const IntentRecord& intent) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object();
  out.key("record");
  write_record(out, intent.record);
  out.member("runtimePid", intent.runtime_pid);
  out.member("runtimeStartTime", intent.runtime_start_time);
  out.end_object();
  return std::move(out).take();
}

Result<IntentRecord> parse_intent(std::string_view text) {
  return parse<IntentRecord>("intent record", text, kIntent);
}

}  // namespace ocirun::bundle
