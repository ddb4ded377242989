// The document as a whole (docs/requirements.md: D-1 … D-10, T-1 … T-10), and the entry points of
// config.hpp.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>

#include "bundle/config/config.hpp"
#include "bundle/config/oci_version.hpp"
#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::bundle {
namespace {

constexpr auto kRoot = fields<Config>(required_part("path",
                                                    [](Value at, Config& out) {  // T-2
                                                      std::string path;
                                                      if (!nonempty_text(at, path)) return false;
                                                      out.root_path = HostPath(std::move(path));
                                                      return true;
                                                    }),
                                      field("readonly", &Config::root_readonly, flag));  // T-3

/// T-10: /vm is an error, because a container cannot replace a virtual machine.
bool refuse_vm(Value at, Config&) {
  at.problem("asks for a virtual machine, but ocirun runs containers only: remove /vm");
  return false;
}

bool warn_platform(Value at, Config&) {
  at.warning("is for another platform and has no effect on Linux");
  return true;
}

constexpr auto kConfig = fields<Config>(
    required("ociVersion", &Config::oci_version, text),  // D-10
    required_part("root", kRoot),                        // T-1
    field("mounts", &Config::mounts, list_of(read_mount)),
    field("process", &Config::process, read_process), field("hostname", &Config::hostname, text),
    field("domainname", &Config::domainname, text), field("hooks", &Config::hooks, read_hooks),
    field("annotations", &Config::annotations, read_annotations), part("linux", read_linux),  // T-9
    part("vm", refuse_vm), part("windows", warn_platform), part("solaris", warn_platform),
    part("zos", warn_platform), part("freebsd", warn_platform));

/// Returns the edition of the document (D-10, SD-1). kConfig reports a version that is absent or
/// not a string.
Edition read_edition(Value root) {
  const auto at = root.member("ociVersion");
  if (!at || !at->node().is_string()) return Edition::kCurrent;
  const auto version = parse_version(at->node().text);
  if (!version) {
    at->problem("{} is not a version of the form 1.2.3 (SemVer 2.0.0)", found(*at));
    return Edition::kCurrent;
  }
  switch (support_of(*version)) {
    case Support::kLegacy05:
      return Edition::kLegacy05;
    case Support::kCurrent:
      break;
    case Support::kNewer:
      at->warning("{} is newer than {}: ocirun ignores what newer versions have added", found(*at),
                  kNewestVersion);
      break;
    case Support::kNone:
      at->problem("unsupported version {} (supported: 1.0 to 1.3, and 0.5 and 0.6)", found(*at));
      break;
  }
  return Edition::kCurrent;
}

/// Joins the paths, and drops "." and empty components. ".." stays, because the component before
/// ".." may be a symlink.
HostPath join(const HostPath& bundle, std::string_view path) {
  std::string joined = path.starts_with('/') ? std::string() : bundle.string();
  while (joined.ends_with('/')) joined.pop_back();
  while (!path.empty()) {
    const std::string_view part = linux::cut(path, '/');
    if (!part.empty() && part != ".") joined.append("/").append(part);
  }
  if (joined.empty()) joined += '/';
  return HostPath(std::move(joined));
}

void join_source(linux::Mount& mount, const HostPath& bundle, const HostPath& root) {  // M-3
  if (!mount.bind || mount.source.empty()) return;
  if (!mount.source.starts_with('/')) mount.source = join(bundle, mount.source).string();
  if (join(bundle, mount.source).string().starts_with(root.string() + "/"))
    mount.source_root = root.string();
}

void join_paths(Config& config, const HostPath& bundle) {
  config.root_path = join(bundle, config.root_path.string());  // T-2
  for (linux::Mount& mount : config.mounts) join_source(mount, bundle, config.root_path);
  if (config.seccomp && !config.seccomp->listener_path.empty() &&
      !config.seccomp->listener_path.is_absolute())
    config.seccomp->listener_path = join(bundle, config.seccomp->listener_path.string());
}

/// Parses a document that is one section of config.json. The error lists all problems.
template <typename Section>
Result<Section> parse_section(std::string_view name, bool (*read)(Value, Section&),
                              std::string_view text, std::vector<std::string>& warnings) {
  Report report(UnknownNames::kTold);  // `ocirun validate` cannot check these documents
  Document document;
  Section section;
  if (document.parse(text, report)) read(Value(*document.root(), report), section);
  if (!report.ok() && document.root() != nullptr && document.root()->find(name) != nullptr)
    return refuse(
        "{}: the document must be the value of \"{}\" in config.json, without that name around "
        "it",
        name, name);
  if (!report.ok()) return refuse("{}: {}", name, fmt::join(report.problems(), "; "));
  warnings.insert(warnings.end(), report.warnings().begin(), report.warnings().end());
  return section;
}

bool read_live_mounts(Value at, std::vector<LiveMount>& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) {
    LiveMount live;
    good &= read_mount(item, live.mount);
    JsonWriter json(JsonWriter::Layout::kOneLine);
    json.value(item.node());
    live.document = std::move(json).take();
    out.push_back(std::move(live));
  }
  return good;
}

}  // namespace

bool read_annotations(Value at, std::map<std::string, std::string>& out) {  // T-6
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value item : at) {
    if (item.key().empty() || item.key().contains('\0')) {
      item.problem("the name of an annotation must not be empty and must not contain NUL");
      good = false;
      continue;
    }
    good &= text(item, out[std::string(item.key())]);
  }
  return good;
}

Parsed parse_config(std::string_view text, const HostPath& bundle, UnknownNames unknown_names) {
  Report report(unknown_names);
  Document document;
  Config config;
  std::vector<std::string> refusals;
  if (document.parse(text, report)) {
    const Value root(*document.root(), report);
    config.edition = read_edition(root);
    if (config.edition == Edition::kLegacy05) {
      check_legacy_rules(*document.root(), report);
      legacy_to_current(document, report);
    }
    kConfig(root, config);
    if (config.resources)
      if (auto warning = settle_pids_limit(*config.resources, config.oci_version))
        root.report().warning(*std::move(warning));
    join_paths(config, bundle);
    if (root.node().is_object()) refusals = check_config(config, root);
  }
  Parsed parsed;
  parsed.bundle = bundle;
  parsed.problem_count = report.problem_count();
  parsed.problems = std::move(report.problems());
  parsed.warnings = std::move(report.warnings());
  parsed.refusals = std::move(refusals);
  if (report.ok()) parsed.config = std::move(config);
  return parsed;
}

Result<Config> Parsed::take() && {
  const auto refuse_for = [this](const std::vector<std::string>& reasons, std::size_t count) {
    return count < 2 ? refuse("config.json: {}", reasons.front())
                     : refuse("config.json: {} ({} more: ocirun validate {})", reasons.front(),
                              count - 1, bundle.string());
  };
  if (!problems.empty()) return refuse_for(problems, problem_count);
  if (!refusals.empty()) return refuse_for(refusals, refusals.size());
  return *std::move(config);
}

Result<Process> parse_process(std::string_view text, std::vector<std::string>& warnings) {
  return parse_section("process", read_process, text, warnings);
}

Result<cgroups::Resources> parse_resources(std::string_view text,
                                           std::vector<std::string>& warnings) {
  return parse_section("resources", read_resources, text, warnings);
}

Result<linux::SeccompProfile> parse_seccomp(std::string_view text) {
  std::vector<std::string> warnings;
  return parse_section("seccomp", read_seccomp, text, warnings);
}

Result<std::vector<LiveMount>> parse_mounts(std::string_view text, const HostPath& bundle,
                                            const HostPath& root_path,
                                            std::vector<std::string>& warnings) {
  OCIRUN_TRY_ASSIGN(std::vector<LiveMount> mounts,
                    parse_section("mounts", read_live_mounts, text, warnings));
  for (LiveMount& live : mounts) join_source(live.mount, bundle, root_path);
  return mounts;
}

Result<std::string> read_config_file(const HostPath& bundle) {
  const auto directory = linux::sys::open(bundle.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!directory && directory.error().number() == ENOTDIR)
    return fail(ENOTDIR, "bundle: {}: give the directory that holds config.json", bundle.string());
  if (!directory) return within(Result<std::string>(std::unexpected(directory.error())), "bundle");
  auto text = linux::read_file(*directory, "config.json", Document::kMaxSize);
  if (!text && text.error().number() == ENOENT)  // D-1
    return refuse("config.json not found in {}", bundle.string());
  return within(std::move(text), "read {}/config.json", bundle.string());
}

Result<std::string> upgrade_document(std::string_view text) {
  Report report;
  Document document;
  if (document.parse(text, report)) {
    const Value root(*document.root(), report);
    Node* version = document.root()->find("ociVersion");
    if (version == nullptr || !version->is_string()) {
      report.problem("/ociVersion: is missing, it is required");
    } else if (read_edition(root) == Edition::kLegacy05) {
      legacy_to_current(document, report);
      version->text = kNewestVersion;
    }
  }
  if (!report.ok()) return refuse("{}", report.first_problem());
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.value(*document.root());
  return std::move(out).take() + "\n";
}

// `hooks` (docs/requirements.md: H-1 … H-5).

namespace {

constexpr auto kHook =
    fields<hooks::Hook>(required("path", &hooks::Hook::path, absolute_path),          // H-2
                        field("args", &hooks::Hook::args, texts),                     // H-3
                        field("env", &hooks::Hook::env, list_of(environment_entry)),  // H-4
                        part("timeout", [](Value at, hooks::Hook& out) {              // H-5
                          std::int32_t seconds = 0;
                          if (!range(1, INT32_MAX)(at, seconds)) return false;
                          out.timeout = std::chrono::seconds(seconds);
                          return true;
                        }));

template <hooks::Kind kind>
bool read_list(Value at, hooks::Hooks& out) {
  return list_of(kHook)(at, out.of(kind));
}

constexpr auto kHooks = fields<hooks::Hooks>(  // H-1
    part("prestart", read_list<hooks::Kind::kPrestart>),
    part("createRuntime", read_list<hooks::Kind::kCreateRuntime>),
    part("createContainer", read_list<hooks::Kind::kCreateContainer>),
    part("startContainer", read_list<hooks::Kind::kStartContainer>),
    part("poststart", read_list<hooks::Kind::kPoststart>),
    part("poststop", read_list<hooks::Kind::kPoststop>));

}  // namespace

bool read_hooks(Value at, hooks::Hooks& out) { return kHooks(at, out); }

}  // namespace ocirun::bundle
