#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/run.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/output_files.hpp"
#include "pods/run/units/patience.hpp"
#include "pods/run/units/units.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kUnitOwnOptions{
    Option{"output", 'o', "DIR", "write the units into the directory DIR", Completes::kDirectory},
    Option{"user-unit", 0, {}, "for the service manager of a user, as for an ordinary user"},
    Option{
        "activate", 0, "[=SECONDS]",
        "start the pod at the first connection, and stop it SECONDS (default 60) after the last"},
};
constexpr std::array kUnitOptions = bundle::cli::joined(kRunOptions, kUnitOwnOptions);

/// Options of `run` that the unit has in another form.
constexpr std::string_view kReplaced[] = {"name",   "replace",  "detach",    "data",
                                          "output", "activate", "user-unit", "wait-ready"};
constexpr std::chrono::seconds kIdle{60};
/// The time that `stop` waits for the pod after the grace period.
constexpr std::chrono::seconds kStopPatience{60};

/// Makes the paths in values of options absolute, and collects them.
class AbsolutePaths {
 public:
  Result<std::string> add(const std::string& path) {
    if (path == "-")
      return refuse(
          "a service has no standard input: the name of a file must take the place of \"-\"");
    OCIRUN_TRY_ASSIGN(const HostPath absolute, linux::absolute_path(path));
    note(absolute.string());
    return absolute.string();
  }

  /// `value` with the paths in it made absolute. `form` is Option::value of the option: "DIR",
  /// "NAME=DIR", …
  Result<std::string> in_value(std::string_view form, const std::string& value) {
    if (form == "DIR" || form == "FILE" || form == "PATH") return add(value);
    if (form == "default|unconfined|FILE")
      return value == "default" || value == "unconfined" ? value : add(value);
    const std::size_t sign = value.find('=');
    if (sign == std::string::npos) return value;
    const std::string name = value.substr(0, sign + 1);
    const std::string rest = value.substr(sign + 1);
    if (form == "NAME=SOURCE") {
      std::string path;
      OCIRUN_TRY_ASSIGN(const std::string source, absolute_source(rest, path));
      if (!path.empty()) note(path);
      return name + source;
    }
    if (form == "NAME[=HOSTPATH][:ro]") {
      constexpr std::string_view kReadOnly = ":ro";
      const bool is_read_only = rest.ends_with(kReadOnly);
      const std::size_t size = rest.size() - (is_read_only ? kReadOnly.size() : 0);
      OCIRUN_TRY_ASSIGN(const std::string path, add(rest.substr(0, size)));
      return name + path + rest.substr(size);
    }
    if (!form.ends_with("=DIR") && !form.ends_with("FILE")) return value;
    OCIRUN_TRY_ASSIGN(const std::string path, add(rest));
    return name + path;
  }

  const std::vector<std::string>& all() const { return paths_; }

 private:
  void note(const std::string& path) {
    if (std::ranges::find(paths_, path) == paths_.end()) paths_.push_back(path);
  }
  std::vector<std::string> paths_;
};

/// Refuses what a service cannot have.
Result<void> check_words(const Arguments& arguments) {
  if (arguments.operands().front() == "-")
    return refuse("a service cannot read its document from standard input: give a file");
  if (arguments.has("detach"))
    return refuse("--detach: the supervisor of a service stays in the foreground");
  for (const std::string& text : arguments.values("env"))
    if (!text.contains('='))
      return refuse(
          "--env {}: a service does not have the caller's environment: --env {}=VALUE writes the "
          "value into the unit, which all users can read; --env-file FILE does not",
          text, text);
  return {};
}

/// The words of ExecStart behind "run", without those that add_entries() adds.
Result<std::vector<std::string>> words_of_service(
    const Arguments& arguments, const std::string& pod, AbsolutePaths& paths,
    const std::optional<std::chrono::seconds>& ready_within) {
  // The name of the unit has the name of the pod, whatever the document says later.
  std::vector<std::string> words{"--replace=always", "--name=" + pod};
  if (ready_within) words.push_back(fmt::format("--wait-ready={}", ready_within->count()));
  OCIRUN_TRY_ASSIGN(const std::string data, paths.add(data_of(arguments).string()));
  words.push_back("--data=" + data);
  for (const Option& option : kUnitOptions) {
    const bool is_replaced =
        std::ranges::find(kReplaced, option.name) != std::end(kReplaced) ||
        (arguments.has("activate") && (option.name == "publish" || option.name == "publish-all"));
    if (is_replaced) continue;
    for (const std::string& value : arguments.values(option.name)) {
      OCIRUN_TRY_ASSIGN(const std::string absolute,
                        within(paths.in_value(option.value, value), "--{}", option.name));
      words.push_back(option.value.empty() ? fmt::format("--{}", option.name)
                                           : fmt::format("--{}={}", option.name, absolute));
    }
  }
  return words;
}

Result<std::chrono::seconds> read_idle(const Arguments& arguments) {
  const std::string text = arguments.value("activate").value_or("");
  if (text.empty()) return kIdle;
  OCIRUN_TRY_ASSIGN(const std::chrono::seconds idle, read_seconds("activate", text));
  if (idle.count() == 0) return refuse("--activate=0: must be a second at least");
  return idle;
}

/// The ports that systemd opens for the pod.
Result<std::vector<Entry>> read_entries(const Settings& settings,
                                        const std::vector<Forward>& forwards) {
  using Kind = NetworkChoice::Kind;
  const Kind kind = settings.network.kind;
  if (kind != Kind::kPod && kind != Kind::kUnfiltered && kind != Kind::kDefault)
    return refuse(
        "with --net {} a container itself opens the port that the socket unit has: the pod needs a "
        "network of its own (--net pod)",
        kind == Kind::kHost   ? "host"
        : kind == Kind::kNone ? "none"
                              : settings.network.path);
  return entries_of(settings.name, ::geteuid(), forwards);
}

/// Where systemd keeps its proxy; Debian with separate /usr has the second path.
std::string path_of_proxy() {
  constexpr std::array kPaths{"/usr/lib/systemd/systemd-socket-proxyd",
                              "/lib/systemd/systemd-socket-proxyd"};
  const auto* const found = std::ranges::find_if(
      kPaths, [](const char* path) { return linux::sys::open(path, O_PATH).has_value(); });
  return found == kPaths.end() ? kPaths.front() : *found;
}

/// --activate: adds the ports that systemd opens to `plan.entries`, and to `words` the options that
/// open the pod for systemd's proxies.
Result<void> add_entries(UnitPlan& plan, std::vector<std::string>& words,
                         const Arguments& arguments, const Settings& settings, const Pod& pod) {
  OCIRUN_TRY_ASSIGN(plan.idle, read_idle(arguments));
  std::vector<Forward> forwards = forwards_of(pod);
  if (forwards.empty()) forwards = closed_ports(pod);  // --activate asks for ports of the host
  OCIRUN_TRY_ASSIGN(plan.entries, within(read_entries(settings, forwards), "--activate"));
  plan.proxy = path_of_proxy();
  for (std::size_t i = 0; i < plan.entries.size(); ++i)
    words.push_back(fmt::format("--publish={}/tcp={}:{}", forwards[i].pod_port,
                                plan.entries[i].inner_address, plan.entries[i].inner_port));
  return {};
}

/// The time of --wait-ready: that of the option, or of a Knative document, else that of the probes.
std::optional<std::chrono::seconds> ready_time_of(const Arguments& arguments,
                                                  const Settings& settings, const Pod& pod) {
  if (arguments.has("wait-ready")) return settings.ready_within;
  const auto time = ready_time(pod, settings.ready_within.value_or(kReadyWithin));
  return time ? time : settings.ready_within;
}

Result<UnitPlan> plan_units(const Arguments& arguments, const Caller& caller) {
  OCIRUN_TRY(check_words(arguments));
  const std::string& file = arguments.operands().front();
  OCIRUN_TRY_ASSIGN(Workload workload, read_workload_of(arguments, caller, std::nullopt));
  OCIRUN_TRY_ASSIGN(const Settings settings, read_run_settings(arguments, caller, workload, file));
  OCIRUN_TRY_ASSIGN(const Completed completed,
                    complete_to_run(std::move(workload), arguments, caller, settings));

  UnitPlan plan;
  AbsolutePaths paths;
  plan.pod = settings.name;
  plan.is_of_user = caller.is_ordinary || arguments.has("user-unit");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') plan.home = home;
  OCIRUN_TRY_ASSIGN(plan.document, paths.add(file));
  const auto ready_within = ready_time_of(arguments, settings, completed.pod());
  plan.start_limit = start_limit(completed.pod(), ready_within);
  plan.stop_limit = settings.grace + kStopPatience;
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> options, with_absolute_paths(caller.options));
  OCIRUN_TRY_ASSIGN(std::vector<std::string> words,
                    words_of_service(arguments, plan.pod, paths, ready_within));
  if (arguments.has("activate")) {
    OCIRUN_TRY(add_entries(plan, words, arguments, settings, completed.pod()));
    if (!ready_within)
      warn(
          "no container has a readiness probe: the first connection may come before the program "
          "listens, and is then refused");
  }
  plan.command = {caller.runtime};
  plan.command.insert(plan.command.end(), options.begin(), options.end());
  plan.command.insert(plan.command.end(), {"pod", "run"});
  plan.command.insert(plan.command.end(), words.begin(), words.end());
  plan.command.insert(plan.command.end(), {"--", plan.document});
  plan.paths = paths.all();
  return plan;
}

/// Writes all units, and prints their paths, or after an error leaves none that was not there
/// before. A file of somebody else stays.
Result<void> write_units(const std::string& path, const std::vector<UnitFile>& units) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                    linux::sys::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  for (const UnitFile& unit : units)
    OCIRUN_TRY(check_own_file(directory, unit.name, first_words_of_unit(unit.name), "unit"));
  OutputFiles files;
  std::string lines;
  for (const UnitFile& unit : units) {
    OCIRUN_TRY(files.write(directory, unit.name, unit.text, 0644));
    lines += fmt::format("{}/{}\n", path, unit.name);
  }
  OCIRUN_TRY(print(lines));
  files.keep();
  return {};
}

Result<int> unit(const Arguments& arguments, const Caller& caller) {
  OCIRUN_TRY_ASSIGN(const UnitPlan plan, plan_units(arguments, caller));
  OCIRUN_TRY_ASSIGN(const std::vector<UnitFile> units, units_of(plan));
  if (const auto output = arguments.value("output")) {
    OCIRUN_TRY_ASSIGN(const HostPath directory, linux::absolute_path(*output));
    OCIRUN_TRY(within(write_units(directory.string(), units), "--output"));
    return 0;
  }
  std::string lines;
  for (const UnitFile& file : units)
    lines += lines.empty() ? file.text : fmt::format("\n{}", file.text);
  OCIRUN_TRY(print(lines));
  return 0;
}

}  // namespace

const Command kUnit{{"unit",
                     "FILE | --profile knative BUNDLE",
                     "print the units of systemd that run the pod of a document",
                     kUnitOptions,
                     {1, 1},
                     {kOneFile}},
                    unit};

}  // namespace ocirun::pods::cli
