#include <arpa/inet.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "linux/base/letters.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/run.hpp"
#include "pods/prepare/bundle_workload.hpp"
#include "pods/run/networks/bridge.hpp"
#include "pods/run/networks/network_directory.hpp"

namespace ocirun::pods::cli {
namespace {

/// Options that do not change what the pod is made of, or whose effect fingerprint_of() adds
/// itself.
constexpr std::string_view kWithoutShape[] = {
    "name",   "replace",  "detach", "wait-ready",  "no-prefix",  "keep",         "data",
    "images", "image",    "volume", "secret",      "runtime",    "log-dir",      "seccomp",
    "env",    "env-file", "pull",   "pull-secret", "plain-http", "pull-timeout", "trace"};
/// Options that `start` and `restart` set themselves. --env and --env-file are repeated as values.
constexpr std::string_view kNotRepeated[] = {"replace", "detach",   "keep", "data",
                                             "env",     "env-file", "trace"};

/// Knative considers a revision failed that is not ready after this time (KN-6).
constexpr std::chrono::seconds kKnativeDeadline{600};

/// The value of --net for the network in config.json of a bundle.
NetworkChoice choice_of_bundle(const Workload& workload) {
  using Kind = NetworkChoice::Kind;
  const auto network = network_of_bundle(workload);
  if (!network) return NetworkChoice{};
  return network->empty() ? NetworkChoice{Kind::kHost, ""} : NetworkChoice{Kind::kPath, *network};
}

Result<NetworkChoice> read_net(const Arguments& arguments, const Workload& workload) {
  using Kind = NetworkChoice::Kind;
  const auto word = arguments.value("net");
  if (!word && workload.pod.host_network) return NetworkChoice{Kind::kHost, ""};
  if (!word) return arguments.has("profile") ? choice_of_bundle(workload) : NetworkChoice{};
  if (*word == "pod") return NetworkChoice{Kind::kPod, ""};
  if (*word == "unfiltered") return NetworkChoice{Kind::kUnfiltered, ""};
  if (*word == "host") return NetworkChoice{Kind::kHost, ""};
  if (*word == "none") return NetworkChoice{Kind::kNone, ""};
  if (word->starts_with('/')) return NetworkChoice{Kind::kPath, *word};
  return refuse("--net {}: must be pod, unfiltered, host, none or the path of a network namespace",
                *word);
}

}  // namespace

Result<NetworkChoice> read_network(const Arguments& arguments, const Workload& workload) {
  using Kind = NetworkChoice::Kind;
  OCIRUN_TRY_ASSIGN(NetworkChoice choice, read_net(arguments, workload));
  const auto name = arguments.value("network");
  if (!name) return choice;
  OCIRUN_TRY(check_network_name(*name));
  if (choice.kind == Kind::kHost || choice.kind == Kind::kPath)
    return refuse(
        "--network {}: the pod needs a network namespace of its own (--net pod or --net none)",
        *name);
  choice.shared = *name;
  return choice;
}

Result<Publishing> read_publishing(const Arguments& arguments, const NetworkChoice& choice) {
  using Kind = NetworkChoice::Kind;
  const bool is_forwarded = choice.kind != Kind::kNone && choice.kind != Kind::kPath;
  const std::string_view net = choice.kind == Kind::kNone ? "none" : std::string_view(choice.path);
  Publishing publishing{.ports = {}, .all = arguments.has("publish-all")};
  for (const std::string& text : arguments.values("publish")) {
    OCIRUN_TRY_ASSIGN(publishing.ports.emplace_back(), read_published(text));
    if (!is_forwarded)
      return refuse("--publish {}: nobody would forward the port with --net {}", text, net);
  }
  if (publishing.all && !is_forwarded)
    return refuse("--publish-all: nobody would forward the ports with --net {}", net);
  return publishing;
}

namespace {

/// Whether every machine has this name for itself or for its network, in its /etc/hosts or by RFC
/// 6761. Host names have no upper and lower case.
bool is_name_of_every_host(std::string name) {
  constexpr std::array<std::string_view, 9> kNames{
      "localhost",    "localhost4",      "localhost6",   "loopback",      "broadcasthost",
      "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters"};
  constexpr std::string_view kOwnDomain = ".localhost";
  for (char& c : name) c = linux::lower(c);
  if (name.ends_with(kOwnDomain)) return true;
  std::string_view first = std::string_view(name).substr(0, name.find('.'));
  if (std::ranges::find(kNames, first) != kNames.end()) return true;
  if (first.starts_with("ip6-")) first.remove_prefix(4);
  return first == "localhost" || first == "loopback" || first == "allhosts";
}

/// Checks the name of a pod with --network: the other pods of the network use it as a host name.
/// Refuses a name that every host has, such as "localhost", and a name that programs read as an
/// address. Refuses a name with a dot from a document, because a host elsewhere may have this name.
Result<void> check_host_name(const Arguments& arguments, const Settings& settings) {
  if (is_name_of_every_host(settings.name))
    return refuse(
        "--network {}: every host calls itself or its network \"{}\", so that no other pod could "
        "reach a pod of this name: --name gives the pod another name",
        settings.network.shared, settings.name);
  if (in_addr address{}; ::inet_aton(settings.name.c_str(), &address) != 0)
    return refuse(
        "--network {}: programs take \"{}\" for an address of IPv4 and not for the name of a pod: "
        "--name gives the pod another name",
        settings.network.shared, settings.name);
  if (!settings.name.contains('.') || arguments.has("name")) return {};
  return refuse(
      "--network {}: the document's name \"{}\" would take the place of a host of this name for "
      "all pods of the network: --name gives the pod a name",
      settings.network.shared, settings.name);
}

bool names_systemd(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i] == "--systemd-cgroup" || options[i] == "--cgroup-manager=systemd" ||
        (options[i] == "--cgroup-manager" && i + 1 < options.size() && options[i + 1] == "systemd"))
      return true;
  return false;
}

bool names_root(const std::vector<std::string>& options) {
  return std::ranges::any_of(options, [](const std::string& option) {
    return option == "--root" || option.starts_with("--root=");
  });
}

/// Adds --root: another shell of the user may have no XDG_RUNTIME_DIR, so that the runtime would
/// use another state root.
void keep_state_root(std::vector<std::string>& runtime) {
  const char* directory = std::getenv("XDG_RUNTIME_DIR");
  if (names_root(runtime) || directory == nullptr || *directory != '/') return;
  runtime.insert(runtime.end(), {"--root", fmt::format("{}/ocirun", directory)});
}

}  // namespace

Result<std::vector<std::string>> with_absolute_paths(std::vector<std::string> options) {
  for (std::size_t i = 0; i < options.size(); ++i)
    for (const std::string_view name : {"--root", "--log"}) {
      const std::string written = fmt::format("{}=", name);
      const bool is_next = options[i] == name && i + 1 < options.size();
      if (is_next) ++i;
      if (!is_next && !options[i].starts_with(written)) continue;
      OCIRUN_TRY_ASSIGN(
          const HostPath path,
          linux::absolute_path(is_next ? options[i] : options[i].substr(written.size())));
      options[i] = is_next ? path.string() : written + path.string();
      break;
    }
  return options;
}

Result<Settings> read_run_settings(const Arguments& arguments, const Caller& caller,
                                   const Workload& workload, const std::string& file) {
  Settings settings;
  OCIRUN_TRY_ASSIGN(settings.data, linux::absolute_path(data_of(arguments).string()));
  OCIRUN_TRY_ASSIGN(const HostPath runtime,
                    linux::absolute_path(arguments.value("runtime").value_or(caller.runtime)));
  if (auto found = linux::sys::open(runtime.c_str(), O_PATH); !found)
    return std::unexpected(found.error().within("--runtime"));
  settings.runtime = {runtime.string()};
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> options, with_absolute_paths(caller.options));
  settings.runtime.insert(settings.runtime.end(), options.begin(), options.end());
  settings.has_metadata = arguments.has("metadata");
  if (const auto when = arguments.value("replace")) {
    if (!when->empty() && *when != "always")
      return refuse("--replace={}: must be always, or --replace alone", *when);
    settings.replace = when->empty() ? Replace::kIfOther : Replace::kAlways;
  }
  settings.shape = arguments.words_but(kRun.options, kWithoutShape);
  if (caller.is_ordinary && !arguments.has("runtime")) keep_state_root(settings.runtime);
  settings.systemd_cgroups = names_systemd(caller.options);
  OCIRUN_TRY_ASSIGN(settings.name, name_for(arguments, workload.pod.name, file));
  OCIRUN_TRY_ASSIGN(settings.network, read_network(arguments, workload));
  if (!settings.network.shared.empty()) {
    OCIRUN_TRY(find_ip_program());
    OCIRUN_TRY(check_host_name(arguments, settings));
  }
  if (workload.pod.grace) settings.grace = *workload.pod.grace;
  if (const auto grace = arguments.value("grace")) {
    OCIRUN_TRY_ASSIGN(settings.grace, read_seconds("grace", *grace));
  }
  if (const auto directory = arguments.value("log-dir")) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(*directory));
    settings.log_directory = path.string();
  }
  if (workload.pod.knative) settings.ready_within = kKnativeDeadline;
  if (arguments.has("wait-ready")) {
    const std::string seconds = arguments.value("wait-ready").value_or("");
    settings.ready_within = kReadyWithin;
    if (!seconds.empty()) {
      OCIRUN_TRY_ASSIGN(settings.ready_within, read_seconds("wait-ready", seconds));
    }
  }
  return settings;
}

Result<Completed> complete_to_run(Workload workload, const Arguments& arguments,
                                  const Caller& caller, const Settings& settings,
                                  Audience audience) {
  OCIRUN_TRY_ASSIGN(Given given, read_given(arguments));
  given.pulling.is_ordinary = caller.is_ordinary;
  OCIRUN_TRY_ASSIGN(const Publishing publishing, read_publishing(arguments, settings.network));
  return complete(std::move(workload), std::move(given), settings.data, publishing, audience);
}

Result<RunRequest> request_of(const Arguments& arguments, const Caller& caller,
                              const Completed& completed) {
  RunRequest request{.options = caller.options,
                     .words = {},
                     .directory = {},
                     .text = completed.workload().text,
                     .fingerprint = {}};
  OCIRUN_TRY_ASSIGN(const HostPath here, linux::absolute_path("."));
  request.directory = here.string();
  request.words = arguments.words_but(kRun.options, kNotRepeated);
  for (const auto& [name, value] : completed.given().variables)
    request.words.push_back(fmt::format("--env={}={}", name, value));
  request.words.insert(request.words.end(), {"--", arguments.operands().front()});
  return request;
}

}  // namespace ocirun::pods::cli
