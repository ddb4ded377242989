#include "pods/export/export.hpp"

#include <array>

#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/images/reference.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kExportOwnOptions{
    Option{"to", "kubernetes", "the engine"},
    Option{"kind", "Deployment|Pod|StatefulSet",
           "the object of Kubernetes (default: Deployment if the containers are always restarted, "
           "else Pod)"},
    Option{"runtime-class", "NAME",
           "the runtime of the pods in Kubernetes; ocirun comes with its RuntimeClass"},
    Option{"size", "NAME=SIZE",
           "write a claim of SIZE, such as 1Gi, for the persistent volume NAME"},
    Option{"lossy", "", "write what the engine cannot say as comments, instead of an error"},
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
    TRY(within(Reference::parse(reference), "--image {}={}", name, source));
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

/// Options that complete a document here, and that the engine's machines replace.
void warn_of_this_machine_s(const Arguments& arguments) {
  for (const auto& [option, instead] :
       {std::pair("images", "an engine fetches images from a registry"),
        std::pair("volume", "the engine has its own volumes"),
        std::pair("plain-http", "the engine's machines reach registries by their own settings"),
        std::pair("pull-secret", "the engine must have the secret, and its file is not exported"),
        std::pair("pull-timeout", "the engine has its own time limits"),
        std::pair("secret", "the engine must have the secret, and its files are not exported"),
        std::pair("extended", "the engine's machines have their own resources"),
        std::pair("seccomp-profiles", "the engine's machines have their own files")})
    if (arguments.has(option)) warn(fmt::format("--{} has no effect: {}", option, instead));
}

Result<int> run_export(const Arguments& arguments, const Caller&) {
  const auto target = arguments.value("to");
  if (!target) return refuse("--to kubernetes is missing");
  if (*target != "kubernetes") return refuse("--to {}: must be kubernetes", *target);
  const std::string& file = arguments.operands().front();
  TRY_ASSIGN(Workload workload, read_workload_to_run(arguments, file, Audience::kManyMachines));
  TRY_ASSIGN(const Given given, read_given(arguments));
  TRY(replace_parts(given, workload.pod));
  TRY(check_given(given, workload, Audience::kManyMachines));
  warn_of_this_machine_s(arguments);
  TRY_ASSIGN(std::string name, name_for(arguments, workload, file));
  TRY_ASSIGN(auto images, references_of(given));
  TRY_ASSIGN(auto sizes, sizes_of(arguments, workload.pod));
  TRY_ASSIGN(const auto seccomp, seccomp_for_export(arguments));
  TRY_ASSIGN(const auto kind, kind_of(arguments));
  const ExportRequest request{.workload = workload,
                              .given = given,
                              .name = std::move(name),
                              .images = std::move(images),
                              .sizes = std::move(sizes),
                              .seccomp = seccomp,
                              .kind = kind,
                              .runtime_class = arguments.value("runtime-class").value_or(""),
                              .lossy = arguments.has("lossy")};
  TRY_ASSIGN(const Exported exported, export_to_kubernetes(request));
  for (const std::string& sentence : exported.notes) note(sentence);
  TRY(print(exported.text));
  return 0;
}

const std::vector<Option> kExportOptions = with_given_options(kExportOwnOptions);

}  // namespace

const Command kExport{.name = "export",
                      .operands = "--to kubernetes FILE",
                      .summary = "write a document for an engine of many machines",
                      .options = kExportOptions,
                      .least_operands = 1,
                      .most_operands = 1,
                      .run = run_export};

}  // namespace ocirun::pods::cli
