#include "linux/resctrl/group.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A CLOS or a monitoring group.
struct Group {
  UniqueFd directory;
  bool created = false;
};

std::string join(const std::string& directory, std::string_view name) {
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

Result<void> remove_group(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};  // "": apply_resctrl() made no group
  const auto remove = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd parent, sys::open(path.substr(0, slash).c_str(), kDirectory));
    return sys::unlinkat(parent, path.c_str() + slash + 1, AT_REMOVEDIR);
  };
  auto removed = remove();
  if (removed || removed.error().number() == ENOENT) return {};
  return within(std::move(removed), "remove the resctrl group {}", path);
}

// The message in resctrl's info/last_cmd_status, which explains an errno; "" when it is empty.
std::string kernel_text(Fd root) {
  const auto file = sys::openat(root, "info/last_cmd_status", O_RDONLY | O_CLOEXEC);
  std::string text = file ? sys::read_all(*file, kFileLimit).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() || text == "ok" ? "" : fmt::format(" ({})", text);
}

// Writes each line with its own write(2), because resctrl takes one command at a time.
Result<void> write_lines(Fd root, Fd group, const char* name,
                         const std::vector<std::string>& lines) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file,
                    sys::openat(group, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  for (const std::string& line : lines) {
    auto written = sys::write_once(file, line + "\n");
    if (!written)
      return within(std::move(written), "write \"{}\" to {}{}", line, name, kernel_text(root));
  }
  return {};
}

// Removes a new directory after a later step has failed. Ignores an error, because the error of
// the failed step is more important.
void discard(Fd parent, const std::string& name) {
  ignore(sys::unlinkat(parent, name.c_str(), AT_REMOVEDIR));
}

Result<Group> make_group(Fd parent, const std::string& name, Fd root) {
  auto made = sys::mkdirat(parent, name.c_str(), 0755);
  const int error = made ? 0 : made.error().number();
  if (error != 0 && error != EEXIST)
    return fail(error, "make the resctrl group {}{}{}", name,
                error == ENOSPC ? " (the processor has no more of them: remove unused ones)" : "",
                kernel_text(root));
  auto directory = sys::openat(parent, name.c_str(), kDirectory);
  if (!directory && made) discard(parent, name);
  OCIRUN_TRY_ASSIGN(UniqueFd opened, std::move(directory));
  return Group{std::move(opened), made.has_value()};
}

Result<void> compare(Fd group, const std::vector<std::string>& lines) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(group, "schemata", O_RDONLY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const std::string schemata, sys::read_all(file, kFileLimit));
  for (const std::string& line : lines) {
    OCIRUN_TRY_ASSIGN(const bool agree, schemata_agree(line, schemata));
    if (!agree)
      return refuse(
          "it exists with other schemata than \"{}\"; ask for what its file says,"
          " leave the schemas out to use it as it is, or choose another closID",
          line);
  }
  return {};
}

Result<Group> open_clos(Fd root, const IntelRdt& rdt, const std::string& name, bool has_schema) {
  if (name == "/" || (rdt.clos_id && !has_schema)) {
    auto directory = sys::openat(root, name == "/" ? "." : name.c_str(), kDirectory);
    if (!directory && directory.error().number() == ENOENT)
      return refuse(
          "this CLOS does not exist: make it in the resctrl filesystem first, or give schemata "
          "in /linux/intelRdt");
    OCIRUN_TRY_ASSIGN(UniqueFd opened, std::move(directory));
    return Group{std::move(opened), false};
  }
  return make_group(root, name, root);
}

// If closID names an existing CLOS, its schemata stay unchanged, but must agree with `lines` (I-5).
Result<void> apply_schemata(Fd root, const Group& clos, const IntelRdt& rdt,
                            const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  if (rdt.clos_id && !clos.created) return compare(clos.directory, lines);
  return write_lines(root, clos.directory, "schemata", lines);
}

// Makes a monitoring group for this container alone (I-8). An existing group is an error.
Result<void> monitor(Fd root, Fd clos, const std::string& id, const std::string& pid) {
  OCIRUN_TRY_ASSIGN(const UniqueFd groups, sys::openat(clos, "mon_groups", kDirectory));
  OCIRUN_TRY_ASSIGN(const Group group, make_group(groups, id, root));
  if (!group.created) return fail(EEXIST, "mon_groups/{}", id);
  auto joined = write_lines(root, group.directory, "tasks", {pid});
  if (!joined) discard(groups, id);
  return joined;
}

}  // namespace

bool is_clos_name(std::string_view name) {
  if (name == "/") return true;
  return !name.empty() && name != "." && name != ".." && !name.contains('/') && name != "info" &&
         name != "mon_groups" && name != "mon_data";
}

Result<void> check_resctrl(const IntelRdt& rdt) {
  constexpr const char* kField = "/linux/intelRdt";
  if (rdt.clos_id && !is_clos_name(*rdt.clos_id))
    return refuse(
        "{}/closID: \"{}\" must be \"/\" or one directory name, not \".\", \"..\","
        " \"info\", \"mon_groups\" or \"mon_data\"",
        kField, *rdt.clos_id);
  if (rdt.mem_bw_schema && !rdt.mem_bw_schema->starts_with("MB:"))
    return refuse("{}/memBwSchema: \"{}\" must start with \"MB:\"", kField, *rdt.mem_bw_schema);
  if (rdt.mem_bw_schema && rdt.mem_bw_schema->find('\n') != std::string::npos)
    return refuse("{}/memBwSchema: must be one line", kField);
  for (std::size_t i = 0; rdt.schemata && i < rdt.schemata->size(); ++i)
    if ((*rdt.schemata)[i].find('\n') != std::string::npos)
      return refuse("{}/schemata/{}: must be one line", kField, i);
  return {};
}

Result<HostPath> find_resctrl() {
  OCIRUN_TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const std::string mountinfo, read_mountinfo(procfs));
  for (std::string_view rest = mountinfo; const auto entry = next_mount(rest);)
    if (entry->type == "resctrl") return HostPath(unescape_path(entry->mount_point));
  return fail(ENOENT,
              "/linux/intelRdt: no resctrl file system is mounted; mount it with \"mount -t"
              " resctrl resctrl /sys/fs/resctrl\", or remove the field");
}

Result<ResctrlGroups> apply_resctrl(const HostPath& root, const IntelRdt& rdt,
                                    const std::string& container_id, int pid) {
  const std::string name = rdt.clos_id.value_or(container_id);
  if (!is_clos_name(name))
    return refuse("/linux/intelRdt: \"{}\" cannot be the name of a CLOS: give a closID", name);
  const std::string path = name == "/" ? root.string() : join(root.string(), name);
  const std::vector<std::string> lines = schema_lines(rdt);
  const std::string pid_text = fmt::format("{}", pid);

  const auto apply = [&]() -> Result<ResctrlGroups> {
    OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::open(root.c_str(), kDirectory));
    OCIRUN_TRY_ASSIGN(const Group clos, open_clos(top, rdt, name, !lines.empty()));
    const auto set = [&]() -> Result<ResctrlGroups> {
      ResctrlGroups groups;
      OCIRUN_TRY(apply_schemata(top, clos, rdt, lines));
      OCIRUN_TRY(write_lines(top, clos.directory, "tasks", {pid_text}));
      if (clos.created && !rdt.clos_id) groups.clos_path = path;
      if (!rdt.enable_monitoring) return groups;
      OCIRUN_TRY(within(monitor(top, clos.directory, container_id, pid_text), "enableMonitoring"));
      groups.monitor_path = join(join(path, "mon_groups"), container_id);
      return groups;
    };
    auto groups = set();
    if (!groups && clos.created) discard(top, name);
    return groups;
  };
  return within(apply(), "/linux/intelRdt: CLOS {}", path);
}

Result<std::vector<std::string>> update_resctrl(const HostPath& root, const std::string& clos,
                                                const std::vector<std::string>& lines) {
  const auto update = [&]() -> Result<std::vector<std::string>> {
    OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::open(root.c_str(), kDirectory));
    OCIRUN_TRY_ASSIGN(const UniqueFd group,
                      sys::openat(top, clos == "/" ? "." : clos.c_str(), kDirectory));
    OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(group, "schemata", O_RDONLY | O_CLOEXEC));
    OCIRUN_TRY_ASSIGN(const std::string schemata, sys::read_all(file, kFileLimit));
    std::vector<std::string> old = schemata_of(schemata, lines);
    auto written = write_lines(top, group, "schemata", lines);
    if (!written) {  // undo the lines before the failed one
      ignore(write_lines(top, group, "schemata", old));
      return std::unexpected(std::move(written).error());
    }
    return old;
  };
  return within(update(), "/linux/intelRdt: CLOS {} of {}", clos, root.string());
}

Result<std::string> read_schemata(const HostPath& root, const std::string& clos) {
  OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::open(root.c_str(), kDirectory));
  const std::string path = clos == "/" ? "schemata" : clos + "/schemata";
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(top, path.c_str(), O_RDONLY | O_NOFOLLOW));
  return sys::read_all(file, kFileLimit);
}

Result<void> remove_resctrl(const ResctrlGroups& groups) {
  const Result<void> monitor = remove_group(groups.monitor_path);
  OCIRUN_TRY(remove_group(groups.clos_path));
  return monitor;
}

namespace {

struct Allocation {
  std::string resource;  // "L3", "MB" …
  std::string domain;
  std::string value;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Normalizes a number, so that "0x07F0" equals "7f0" (masks) and "020" equals "20" (shares).
std::string normal_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  std::string number(text);
  for (char& c : number) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return number;
}

// Parses a line such as "L3:0=7f0;1=1f". Nothing for a line of another form.
std::optional<std::vector<Allocation>> parse_line(std::string_view line) {
  std::vector<Allocation> allocations;
  const std::string_view resource = trim(cut(line, ':'));
  if (resource.empty() || line.empty()) return std::nullopt;
  while (!line.empty()) {
    std::string_view entry = trim(cut(line, ';'));
    const std::string_view domain = trim(cut(entry, '='));
    const std::string_view value = trim(entry);
    if (domain.empty() || value.empty()) return std::nullopt;
    allocations.push_back({std::string(resource), normal_number(domain), normal_number(value)});
  }
  return allocations;
}

}  // namespace

std::vector<std::string> schema_lines(const IntelRdt& rdt) {
  std::vector<std::string> lines;
  // l3CacheSchema should hold one line, but may hold several.
  std::string_view l3 = rdt.l3_cache_schema ? std::string_view(*rdt.l3_cache_schema) : "";
  while (!l3.empty())
    if (const auto line = trim(cut(l3, '\n')); !line.empty()) lines.emplace_back(line);
  if (rdt.mem_bw_schema) lines.push_back(*rdt.mem_bw_schema);
  if (rdt.schemata) lines.insert(lines.end(), rdt.schemata->begin(), rdt.schemata->end());
  return lines;
}

Result<bool> schemata_agree(std::string_view line, std::string_view schemata) {
  const auto wanted = parse_line(line);
  if (!wanted)
    return refuse("schema \"{}\": must be a resource and its domains, such as \"L3:0=7f0;1=1f\"",
                  line);
  std::vector<Allocation> present;
  while (!schemata.empty())
    if (const auto allocations = parse_line(cut(schemata, '\n')))
      present.insert(present.end(), allocations->begin(), allocations->end());
  return std::ranges::all_of(*wanted, [&](const Allocation& allocation) {
    return std::ranges::find(present, allocation) != present.end();
  });
}

std::vector<std::string> schemata_of(std::string_view schemata,
                                     const std::vector<std::string>& lines) {
  std::vector<std::string> found;
  while (!schemata.empty()) {
    const std::string_view line = trim(cut(schemata, '\n'));
    const std::string_view resource = line.substr(0, line.find(':'));
    const bool asked = std::ranges::any_of(lines, [&](std::string_view wanted) {
      return trim(wanted.substr(0, wanted.find(':'))) == resource;
    });
    if (asked && !line.empty()) found.emplace_back(line);
  }
  return found;
}

}  // namespace ocirun::linux
