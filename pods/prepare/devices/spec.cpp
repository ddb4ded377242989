#include "pods/prepare/devices/spec.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bundle/json/writer.hpp"
#include "linux/base/name_table.hpp"
#include "pods/documents/model/device_names.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/documents/source.hpp"
#include "pods/prepare/devices/versions.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kMostItems = 4096;  // of a list: the file of a vendor is not so large

/// A list of at most kMostItems.
template <typename Reader>
constexpr auto bounded_list_of(Reader reader) {
  return [reader](Value at, auto& out) {
    if (!list_of(reader)(at, out)) return false;
    if (out.size() <= kMostItems) return true;
    at.problem("has {} items, at most {} are read", out.size(), kMostItems);
    return false;
  };
}
constexpr auto kStrings = bounded_list_of(string);
constexpr auto kEnvironment = bounded_list_of(bundle::environment_entry);

bool host_file(Value at, std::string& out) { return bundle::absolute_path(at, out); }

// Linux keeps 12 bits of a major and 20 bits of a minor number.
constexpr auto kMajorNumber = whole_number(0, 4095);
constexpr auto kMinorNumber = whole_number(0, 1'048'575);

bool node_type(Value at, char& out) {
  static constexpr std::string_view kTypes[] = {"b", "c", "u", "p"};
  std::string word;
  if (!string(at, word)) return false;
  if (word.empty()) return true;
  if (std::ranges::find(kTypes, word) == std::end(kTypes)) {
    bundle::unknown_word(at, "type of a device node", kTypes);
    return false;
  }
  out = word == "u" ? 'c' : word.front();  // an unbuffered character device
  return true;
}

/// Permission bits. Some generators write a whole st_mode.
bool node_mode(Value at, std::optional<mode_t>& out) {
  constexpr mode_t kMost = 0177777;
  mode_t mode = 0;
  const std::string_view digits = at.node().text;  // of YAML, where "0666" is no octal number
  const bool is_decimal = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!at.node().is_string() && digits.size() > 1 && digits.starts_with('0') && is_decimal) {
    at.problem("must be written as a decimal number, such as 438 for the octal 0666, or as 0o666");
    return false;
  }
  if (!whole_number(0, kMost)(at, mode)) return false;
  const mode_t type = mode & S_IFMT;
  const bool is_of_node = type == 0 || type == S_IFCHR || type == S_IFBLK || type == S_IFIFO;
  if (!is_of_node || (mode & ~(S_IFMT | mode_t{0777})) != 0) {
    at.problem("must be permission bits from 0 to 511 (octal 0777), not {}", mode);
    return false;
  }
  out = mode & mode_t{0777};
  return true;
}

bool node_access(Value at, std::string& out) {
  std::string word;
  if (!string(at, word)) return false;
  if (word.empty()) return true;
  if (word != "none" && word.find_first_not_of("rwm") != std::string::npos) {
    at.problem("must be letters of \"rwm\", or \"none\", not {}", found(at));
    return false;
  }
  out.clear();
  for (const char letter : {'r', 'w', 'm'})
    if (word != "none" && word.contains(letter)) out.push_back(letter);
  return true;
}

constexpr auto kNode = bundle::checked(
    exact_fields<DeviceNode>(
        required("path", &DeviceNode::path, path_below_root),
        field("hostPath", &DeviceNode::host_path, host_file),
        field("type", &DeviceNode::type, node_type),
        field("major", &DeviceNode::major, kMajorNumber),
        field("minor", &DeviceNode::minor, kMinorNumber),
        part("fileMode", [](Value at, DeviceNode& out) { return node_mode(at, out.mode); }),
        field("permissions", &DeviceNode::access, node_access),
        field("uid", &DeviceNode::uid, user_id), field("gid", &DeviceNode::gid, group_id)),
    [](Value at, const DeviceNode& node) {
      if (node.type == 'p' && (node.major != 0 || node.minor != 0))
        at.problem("a fifo (\"type\": \"p\") has no major and no minor number");
      if (node.minor != 0 && !at.member("major"))
        at.problem_at("major", "is missing, the minor number needs it");
    });

bool has_option(const DeviceMount& mount, std::string_view option) {
  return std::ranges::find(mount.options, option) != mount.options.end();
}

constexpr auto kMountFields = exact_fields<DeviceMount>(
    required("hostPath", &DeviceMount::source, nonempty_string),
    required("containerPath", &DeviceMount::destination, path_below_root),
    field("type", &DeviceMount::type, string), field("options", &DeviceMount::options, kStrings));

/// A mount without a type, and without "bind" and "rbind", is a bind mount: its hostPath is a path.
bool device_mount(Value at, DeviceMount& out) {
  if (!kMountFields(at, out)) return false;
  const bool says_bind = has_option(out, "bind") || has_option(out, "rbind");
  if (!says_bind && !out.type.empty() && out.type != "bind" && out.type != "none") return true;
  if (!out.source.starts_with('/')) {
    at.problem_at("hostPath", "must be an absolute path, because the mount is a bind mount");
    return false;
  }
  out.type = "bind";
  if (!says_bind) out.options.insert(out.options.begin(), "rbind");
  return true;
}

bool hook_name(Value at, std::string& out) {
  static constexpr std::string_view kNames[] = {
      "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};
  if (!string(at, out)) return false;
  if (std::ranges::find(kNames, out) != std::end(kNames)) return true;
  bundle::unknown_word(at, "hook", kNames);
  return false;
}

constexpr auto kHook = exact_fields<DeviceHook>(
    required("hookName", &DeviceHook::name, hook_name),
    required("path", &DeviceHook::path, host_file), field("args", &DeviceHook::args, kStrings),
    field("env", &DeviceHook::env, kEnvironment),
    field("timeout", &DeviceHook::timeout, whole_number(1, 2'147'483'647)));

/// enableCMT and enableMBM: later versions of the OCI specification monitor without them.
constexpr auto kMonitoring = [](Value at, DeviceRdt& out) {
  bool wanted = false;
  if (!boolean(at, wanted)) return false;
  out.enable_monitoring = out.enable_monitoring || wanted;
  return true;
};

constexpr auto kRdt = exact_fields<DeviceRdt>(
    field("closID", &DeviceRdt::clos_id, string),
    field("l3CacheSchema", &DeviceRdt::l3_cache_schema, string),
    field("memBwSchema", &DeviceRdt::mem_bw_schema, string),
    field("schemata", &DeviceRdt::schemata, kStrings), part("enableMonitoring", kMonitoring),
    part("enableCMT", kMonitoring), part("enableMBM", kMonitoring));

/// A group of 0 has no effect.
bool groups(Value at, std::vector<Gid>& out) {
  if (!bounded_list_of(group_id)(at, out)) return false;
  std::erase(out, Gid{});
  return true;
}

constexpr auto kEdits = exact_fields<DeviceEdits>(
    field("env", &DeviceEdits::env, kEnvironment),
    field("deviceNodes", &DeviceEdits::nodes, bounded_list_of(kNode)),
    field("mounts", &DeviceEdits::mounts, bounded_list_of(device_mount)),
    field("hooks", &DeviceEdits::hooks, bounded_list_of(kHook)),
    field("intelRdt", &DeviceEdits::rdt, kRdt), field("additionalGids", &DeviceEdits::gids, groups),
    field("additionalGIDs", &DeviceEdits::gids, groups),  // the other spelling of the specification
    part("netDevices", [](Value at, DeviceEdits&) {
      if (at.node().is_array() && at.node().first == nullptr) return true;
      at.problem(
          "netDevices are not supported: the containers of a pod share the network of the pod, and "
          "no container could have the interface again when it is started again");
      return false;
    }));

/// Whether no member of containerEdits has an item.
bool asks_for_nothing(Value edits) {
  for (const Value member : edits)
    if (member.node().first != nullptr) return false;
  return true;
}

bool device_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_device_name(out)) return true;
  at.problem(
      "must be a name of letters, digits, \"-\", \"_\", \".\" and \":\" that begins and ends with "
      "a "
      "letter or digit, not {}",
      found(at));
  return false;
}

bool kind_of_devices(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_device_kind(out)) return true;
  at.problem(
      "must be VENDOR/CLASS, such as \"vendor.com/gpu\", of letters, digits, \"-\", \"_\" and "
      "\".\"; both begin with a letter and end with a letter or digit; not {}",
      found(at));
  return false;
}

/// Annotations inform the reader of the file, and do not reach the container.
constexpr auto kAnnotations = [](Value at, auto&) {
  std::map<std::string, std::string> unused;
  return string_map(at, unused);
};

constexpr auto kDevice = bundle::checked(
    exact_fields<CdiDevice>(required("name", &CdiDevice::name, device_name),
                            part("annotations", kAnnotations),
                            required("containerEdits", &CdiDevice::edits, kEdits)),
    [](Value at, const CdiDevice&) {
      if (const auto edits = at.member("containerEdits"); edits && asks_for_nothing(*edits))
        at.problem_at("containerEdits", "must not be empty: the device would give nothing");
    });

constexpr auto kDevices = [](Value at, std::vector<CdiDevice>& out) {
  if (!bounded_list_of(kDevice)(at, out)) return false;
  if (out.empty()) at.problem("must have a device");
  report_twice(at, out, by("name", &CdiDevice::name));
  return true;
};

constexpr auto kSpec = exact_fields<CdiSpec>(required_part("cdiVersion",
                                                           [](Value at, CdiSpec&) {
                                                             std::string unused;
                                                             return nonempty_string(at, unused);
                                                           }),
                                             required("kind", &CdiSpec::kind, kind_of_devices),
                                             part("annotations", kAnnotations),
                                             required("devices", &CdiSpec::devices, kDevices),
                                             field("containerEdits", &CdiSpec::edits, kEdits));

/// Notes the places of the device nodes of `object`, a device or the whole file.
void note_places(const Source& source, const std::string& file, const bundle::Node& object,
                 DeviceEdits& edits) {
  const bundle::Node* at = object.find("containerEdits");
  at = at == nullptr ? nullptr : at->find("deviceNodes");
  at = at == nullptr ? nullptr : at->first;
  for (DeviceNode& node : edits.nodes) {
    const Mark mark = source.mark(at);
    node.where = fmt::format("{}:{}:{}: {}", file, mark.line, mark.column, bundle::pointer_to(*at));
    at = at->next;
  }
}

}  // namespace

std::expected<CdiSpec, BrokenSpec> read_cdi_spec(const std::string& file, std::string_view text) {
  Source source;
  bundle::Report report;
  CdiSpec spec;
  spec.file = file;
  spec.text = text;
  if (source.parse(text, report)) {
    if (source.roots().size() == 1) {
      const Value root(*source.root(), report);
      if (kSpec(root, spec) || root.node().is_object()) check_cdi_version(root);
    } else {
      report.problem(fmt::format("must have one document, not {}", source.roots().size()));
    }
  }
  if (!report.ok())
    return std::unexpected(BrokenSpec{.file = file,
                                      .kind = is_device_kind(spec.kind) ? spec.kind : std::string(),
                                      .problems = source.problems(file, report)});
  note_places(source, file, *source.root(), spec.edits);
  const bundle::Node* at = source.root()->find("devices")->first;
  for (CdiDevice& device : spec.devices) {
    note_places(source, file, *at, device.edits);
    at = at->next;
  }
  return spec;
}

}  // namespace ocirun::pods
