#include "pods/export/export.hpp"
#include "pods/prepare/complete.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>

#include <array>

#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/documents/model/reference.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/prepare/output_files.hpp"

namespace ocirun::pods::cli {
namespace {

enum class Engine : std::uint8_t { kKubernetes, kSwarm };

constexpr linux::Named<Engine> kEngines[] = {{"kubernetes", Engine::kKubernetes},
                                             {"swarm", Engine::kSwarm}};
constexpr linux::Named<PortMode> kPortModes[] = {{"ingress", PortMode::kIngress},
                                                 {"host", PortMode::kHost}};
constexpr linux::Named<EndpointMode> kEndpointModes[] = {{"vip", EndpointMode::kVip},
                                                         {"dnsrr", EndpointMode::kDnsrr}};

constexpr std::array kExportOwnOptions{
    Option{"to", 0, "kubernetes|swarm", "the engine", Completes::kWords},
    Option{"kind", 0, "Deployment|Pod|StatefulSet",
           "the object of Kubernetes (default: Deployment if the containers are always restarted, "
           "else Pod)",
           Completes::kWords},
    Option{"runtime-class", 0, "NAME",
           "the runtime of the pods in Kubernetes; ocirun comes with its RuntimeClass"},
    Option{"size", 0, "NAME=SIZE",
           "write a claim of SIZE, such as 1Gi, for the persistent volume NAME",
           Completes::kNothing, Times::kMany},
    Option{"output", 'o', "DIR",
           "write compose.yaml and the files of its configs into DIR, for Swarm",
           Completes::kDirectory},
    Option{"port-mode", 0, "ingress|host",
           "open the ports on all nodes of Swarm (default), or on those of the containers",
           Completes::kWords},
    Option{"endpoint-mode", 0, "vip|dnsrr",
           "the name of a service of Swarm leads to one address (default), or to all containers",
           Completes::kWords},
    Option{"lossy", 0, {}, "write what the engine cannot say as comments, instead of an error"},
};

/// --image NAME=docker://REFERENCE
Result<std::map<std::string, std::string>> references_of(const Given& given) {
  constexpr std::string_view kRegistry = "docker://";
  std::map<std::string, std::string> references;
  for (const auto& [name, source] : given.images) {
    if (!source.starts_with(kRegistry))
      return refuse(
          "--image {}={}: is an image of this machine alone: {}=docker://REFERENCE names one in a "
          "registry",
          name, source, name);
    std::string reference = source.substr(kRegistry.size());
    OCIRUN_TRY(within(Reference::parse(reference), "--image {}={}", name, source));
    references.emplace(name, std::move(reference));
  }
  return references;
}

/// --size NAME=SIZE. Errors: the pod has no persistent volume NAME.
Result<std::map<std::string, std::uint64_t>> sizes_of(const Arguments& arguments, const Pod& pod) {
  std::map<std::string, std::uint64_t> sizes;
  for (const std::string& text : arguments.values("size")) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      return refuse("--size {}: must have the form NAME=SIZE", text);
    const std::string name = text.substr(0, sign);
    const std::string size = text.substr(sign + 1);
    bundle::Report report;
    bundle::Node node;
    node.kind = bundle::Node::Kind::kString;
    node.text = size;
    std::uint64_t bytes = 0;
    if (!kubernetes_bytes(bundle::Value(node, report), bytes))
      return refuse("--size {}: the size must be a number of bytes above 0, such as 128Mi or 1Gi",
                    text);
    const auto is_named = [&](const auto& part) { return part.name == name; };
    bool is_known = std::ranges::any_of(pod.volumes, [&](const Volume& volume) {
      return volume.name == name && volume.kind == Volume::Source::kOperator;
    });
    for (const Container* container : all_containers(pod))
      is_known = is_known || std::ranges::any_of(container->mount_points, is_named);
    if (!is_known)
      return refuse("--size {}: the document has no persistent volume \"{}\"", text, name);
    if (!sizes.emplace(name, bytes).second)
      return refuse("--size {}: the name is given twice", text);
  }
  return sizes;
}

Result<std::optional<SeccompRequest::Kind>> seccomp_for_export(const Arguments& arguments) {
  const auto text = arguments.value("seccomp");
  if (!text) return std::nullopt;
  if (*text == "default") return SeccompRequest::Kind::kRuntimeDefault;
  if (*text == "unconfined") return SeccompRequest::Kind::kUnconfined;
  return refuse(
      "--seccomp {}: must be default or unconfined: a file of this machine is on no other", *text);
}

Result<std::optional<ExportedKind>> kind_of(const Arguments& arguments) {
  const auto text = arguments.value("kind");
  if (!text) return std::nullopt;
  if (*text == "Deployment") return ExportedKind::kDeployment;
  if (*text == "Pod") return ExportedKind::kPod;
  if (*text == "StatefulSet") return ExportedKind::kStatefulSet;
  return refuse("--kind {}: must be Deployment, Pod or StatefulSet", *text);
}

/// The value of an option with the words of `table`; the first word by default.
template <typename Mode, std::size_t N>
Result<Mode> mode_of(const Arguments& arguments, std::string_view option,
                     const linux::Named<Mode> (&table)[N]) {
  const auto text = arguments.value(option);
  if (!text) return table[0].value;
  if (const auto mode = linux::value_of(table, *text)) return *mode;
  return refuse("--{} {}: must be {}", option, *text, fmt::join(linux::names_of(table), " or "));
}

/// Options that complete a document here, and that the engine's machines replace.
void warn_of_local_options(const Arguments& arguments, Engine engine) {
  const auto warn_of = [&](std::string_view option, std::string_view instead) {
    if (arguments.has(option)) warn(fmt::format("--{} has no effect: {}", option, instead));
  };
  warn_of("images", "an engine fetches images from a registry");
  warn_of("volume", "the engine has its own volumes");
  warn_of("plain-http", "the engine's machines reach registries by their own settings");
  warn_of("pull-secret", "the engine must have the secret, and its file is not exported");
  warn_of("pull-timeout", "the engine has its own time limits");
  warn_of("extended", "the engine's machines have their own resources");
  warn_of("device", "the engine chooses devices, which limits of a container ask for");
  warn_of("cdi", "the engine's machines have their own specifications of devices");
  warn_of("seccomp-profiles", "the engine's machines have their own files");
  // For Swarm, --secret gives the content of config maps and the keys of secrets.
  if (engine == Engine::kSwarm)
    warn_of("pull", "`docker stack deploy --resolve-image` has the rules of Swarm");
  else
    warn_of("secret", "the engine must have the secret, and its files are not exported");
}

/// Refuses the options of the other engine.
Result<void> check_options_of(Engine engine, const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> kKubernetes{"kind", "runtime-class", "size"};
  constexpr std::array<std::string_view, 3> kSwarm{"output", "port-mode", "endpoint-mode"};
  const bool is_swarm = engine == Engine::kSwarm;
  for (const std::string_view option : is_swarm ? kKubernetes : kSwarm)
    if (arguments.has(option))
      return refuse("--{}: is an option of --to {}, not of --to {}", option,
                    is_swarm ? "kubernetes" : "swarm", is_swarm ? "swarm" : "kubernetes");
  return {};
}

/// Writes compose.yaml, and the configs that it refers to, into the directory, and prints the path
/// of compose.yaml. Replaces the files of an earlier export. Errors: a compose.yaml that no export
/// has written; without a compose.yaml, a config file with another content.
Result<void> write_stack(const HostPath& output, const Exported& exported) {
  constexpr mode_t kMode = 0600;  // --param and --env may give what others should not read
  const std::string compose = "compose.yaml";
  OutputFiles files;
  OCIRUN_TRY_ASSIGN(const Fd directory, files.open_or_make(Fd{AT_FDCWD}, output.string()));
  OCIRUN_TRY_ASSIGN(
      const bool is_ours,
      check_own_file(directory, compose, fmt::format("# {} ", kDeployCommand), "export"));
  if (!exported.files.empty()) {
    OCIRUN_TRY_ASSIGN(const Fd below, files.open_or_make(directory, std::string(kConfigDirectory)));
    const auto file_in = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    for (const auto& [path, text] : exported.files)
      if (!is_ours)
        OCIRUN_TRY(within(check_same_file(below, file_in(path), text), "{}", kConfigDirectory));
    for (const auto& [path, text] : exported.files)
      OCIRUN_TRY(files.write(below, file_in(path), text, kMode));
  }
  OCIRUN_TRY(files.write(directory, compose, exported.text, kMode));
  OCIRUN_TRY(print(fmt::format("{}/{}\n", output.string(), compose)));
  files.keep();
  return {};
}

Result<void> give_out(const Arguments& arguments, const Exported& exported) {
  const auto output = arguments.value("output");
  if (output) {
    OCIRUN_TRY_ASSIGN(const HostPath directory, linux::absolute_path(*output));
    return within(write_stack(directory, exported), "--output {}", *output);
  }
  if (!exported.files.empty())
    return refuse(
        "the workload has config files, which a Compose file cannot contain: --output DIR writes "
        "them and the Compose file");
  return print(exported.text);
}

Result<Engine> engine_of(const Arguments& arguments) {
  if (!arguments.has("to")) return refuse("--to kubernetes or --to swarm is missing");
  return mode_of(arguments, "to", kEngines);
}

Result<int> run_export(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const Engine engine, engine_of(arguments));
  OCIRUN_TRY(check_options_of(engine, arguments));
  const Audience audience = engine == Engine::kSwarm ? Audience::kSwarm : Audience::kManyMachines;
  const std::string& file = arguments.operands().front();
  OCIRUN_TRY_ASSIGN(Workload workload, read_workload_to_run(arguments, file, audience));
  OCIRUN_TRY_ASSIGN(Given given, read_given(arguments));
  OCIRUN_TRY_ASSIGN(const Completed completed,
                    complete(std::move(workload), std::move(given), {}, {}, audience));
  warn_of_local_options(arguments, engine);
  OCIRUN_TRY_ASSIGN(std::string name, name_for(arguments, workload_name(completed.pod()), file));
  OCIRUN_TRY_ASSIGN(auto images, references_of(completed.given()));
  OCIRUN_TRY_ASSIGN(auto sizes, sizes_of(arguments, completed.pod()));
  OCIRUN_TRY_ASSIGN(const auto seccomp, seccomp_for_export(arguments));
  OCIRUN_TRY_ASSIGN(const auto kind, kind_of(arguments));
  OCIRUN_TRY_ASSIGN(const PortMode port_mode, mode_of(arguments, "port-mode", kPortModes));
  OCIRUN_TRY_ASSIGN(const EndpointMode endpoint_mode,
                    mode_of(arguments, "endpoint-mode", kEndpointModes));
  const ExportRequest request{.completed = completed,
                              .name = std::move(name),
                              .images = std::move(images),
                              .sizes = std::move(sizes),
                              .seccomp = seccomp,
                              .kind = kind,
                              .runtime_class = arguments.value("runtime-class").value_or(""),
                              .port_mode = port_mode,
                              .endpoint_mode = endpoint_mode,
                              .lossy = arguments.has("lossy")};
  OCIRUN_TRY_ASSIGN(const Exported exported, engine == Engine::kSwarm
                                                 ? export_to_swarm(request)
                                                 : export_to_kubernetes(request));
  for (const std::string& sentence : exported.notes) note(sentence);
  OCIRUN_TRY(give_out(arguments, exported));
  return 0;
}

constexpr std::array kExportOptions = bundle::cli::joined(kGivenOptions, kExportOwnOptions);

}  // namespace

const Command kExport{{"export",
                       "--to kubernetes|swarm FILE",
                       "write a document for many machines: Kubernetes or Docker Swarm",
                       kExportOptions,
                       {1, 1},
                       {kOneFile}},
                      run_export};

}  // namespace ocirun::pods::cli
