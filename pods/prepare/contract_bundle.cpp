#include "pods/prepare/prepare.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "bundle/config/annotations.hpp"
#include "bundle/config/config.hpp"
#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/mount_point.hpp"
#include "pods/prepare/contract/clauses.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using bundle::Editor;
using bundle::JsonWriter;
using bundle::Node;

/// The operator's config.json while it is changed.
struct Draft {
  bundle::Document document;
  Editor editor{document};
  Node* root = nullptr;
};

/// Whether a mount of the bundle covers `path` or a directory above it, other than the root.
bool is_mounted(const bundle::Config& config, const std::string& path) {
  return std::ranges::any_of(config.mounts, [&](const linux::Mount& mount) {
    const std::string& at = mount.destination.string();
    return linux::clean_path(at) != "/" && linux::mount_covers(at, path);
  });
}

void set_variable(Draft& draft, Node* env, std::string_view name, std::string_view value) {
  const std::string prefix = fmt::format("{}=", name);
  for (const Node* entry = env->first; entry != nullptr; entry = entry->next)
    if (entry->text.starts_with(prefix)) return;
  append(env, draft.editor.text(prefix + std::string(value)), "");
}

/// KN-1, KN-2. Does not replace variables that the operator has set.
void set_variables(Draft& draft, const Pod& pod, const Container& container) {
  Node* env = draft.editor.array_in(draft.editor.object_in(draft.root, "process"), "env");
  set_variable(draft, env, "PORT", fmt::format("{}", container.ports.front().number));
  set_variable(draft, env, "K_SERVICE", pod.knative->service);
  set_variable(draft, env, "K_CONFIGURATION", pod.knative->configuration);
  set_variable(draft, env, "K_REVISION", pod.knative->revision);
}

/// Sets the user that --user gives (KN-16).
Result<void> set_user(Draft& draft, const bundle::Config& config, const Container& container,
                      SetGroups rule) {
  Uid uid = config.process->user.uid;
  if (!container.user.empty()) {
    OCIRUN_TRY_ASSIGN(const linux::SafeDir tree, linux::SafeDir::open_root(config.root_path));
    OCIRUN_TRY_ASSIGN(const Account account,
                      within(find_account(tree, container.user, container.group), "--user"));
    uid = account.uid;
    Editor& editor = draft.editor;
    Node* user = editor.object_in(editor.object_in(draft.root, "process"), "user");
    editor.set(user, "uid", editor.number(account.uid.value()));
    editor.set(user, "gid", editor.number(account.gid.value()));
    Node* gids = editor.array();
    for (const Gid gid : supplementary_groups(account, rule))
      append(gids, editor.number(gid.value()), "");
    editor.set(user, "additionalGids", gids);
  }
  if (container.forbid_root && uid.value() == 0)
    return refuse("the program would run as root, which --forbid-root forbids");
  return {};
}

/// Changes the operator's mounts. Relative sources of binds become absolute, because the new
/// config.json is in another directory. Cgroup mounts become read-only (KN-18).
void change_mounts(Draft& draft, const bundle::Config& config) {
  const Node* list = draft.root->find("mounts");
  Node* node = list == nullptr ? nullptr : list->first;
  for (const linux::Mount& mount : config.mounts) {
    if (node == nullptr) return;
    if (mount.bind) draft.editor.set(node, "source", draft.editor.text(mount.source));
    if (is_cgroup_mount(mount))
      for (const char* option : {"ro", "rro"})
        if (mount.recursive || option == std::string_view("ro"))
          append(draft.editor.array_in(node, "options"), draft.editor.text(option), "");
    node = node->next;
  }
}

Node* make_mount(Draft& draft, std::string_view destination, std::string_view type,
                 std::string_view source, std::initializer_list<std::string_view> options) {
  Editor& editor = draft.editor;
  Node* mount = editor.object();
  editor.set(mount, "destination", editor.text(destination));
  editor.set(mount, "type", editor.text(type));
  editor.set(mount, "source", editor.text(source));
  Node* list = editor.array_in(mount, "options");
  for (const std::string_view option : options) append(list, editor.text(option), "");
  return mount;
}

/// The operator's first mount below `directory`, which a mount on `directory` must precede.
const Node* first_mount_below(const Node& mounts, const bundle::Config& config,
                              const std::string& directory) {
  const Node* node = mounts.first;
  for (const linux::Mount& mount : config.mounts) {
    if (linux::mount_covers(directory, mount.destination.string())) return node;
    node = node->next;
  }
  return nullptr;
}

/// Adds /tmp, /var/log and the network's files where no mount covers them (KN-7, KN-8, KN-9).
void add_mounts(Draft& draft, const bundle::Config& config,
                const std::vector<BoundPath>& network_files) {
  struct Addition {
    Node* mount;
    const Node* place;
  };
  Node* mounts = draft.editor.array_in(draft.root, "mounts");
  std::vector<Addition> directories;
  for (const ContractDirectory& directory : kContractDirectories) {
    if (is_mounted(config, directory.path)) continue;
    const std::string mode = fmt::format("mode={:04o}", directory.mode);
    directories.push_back(
        {make_mount(draft, directory.path, "tmpfs", "tmpfs", {"nosuid", "nodev", mode}),
         first_mount_below(*mounts, config, directory.path)});
  }
  for (const auto& [mount, place] : directories) insert(mounts, mount, place);
  for (const BoundPath& file : network_files)
    if (!is_mounted(config, file.destination) &&
        (config.hostname.empty() || file.destination != "/etc/hostname"))
      append(mounts, make_mount(draft, file.destination, "bind", file.source, {"bind", "rprivate"}),
             "");
}

Node* find_namespace(Node* namespaces, std::string_view type) {
  for (Node* entry = namespaces->first; entry != nullptr; entry = entry->next)
    if (const Node* word = entry->find("type"); word != nullptr && word->text == type) return entry;
  return nullptr;
}

/// Makes listenerPath absolute. A relative path is below the operator's bundle.
void set_seccomp_listener(Draft& draft, const bundle::Config& config) {
  if (!config.seccomp || config.seccomp->listener_path.empty()) return;
  Editor& editor = draft.editor;
  Node* seccomp = editor.object_in(editor.object_in(draft.root, "linux"), "seccomp");
  editor.set(seccomp, "listenerPath", editor.text(config.seccomp->listener_path.string()));
}

/// Replaces the network namespace by that of the pod, which probes and forwarded ports lead to.
void set_network(Draft& draft, Node* namespaces, const SharedNamespaces& shared) {
  Editor& editor = draft.editor;
  Node* network = find_namespace(namespaces, "network");
  if (shared.host_network) {
    if (network != nullptr) bundle::unlink(namespaces, network);
    return;
  }
  if (network == nullptr) {
    network = editor.object();
    editor.set(network, "type", editor.text("network"));
    append(namespaces, network, "");
  }
  editor.set(network, "path", editor.text(shared.network));
}

void set_sandbox(Draft& draft, const Container& container, const Sandbox& sandbox,
                 std::vector<std::string>& warnings) {
  Editor& editor = draft.editor;
  Node* linux = editor.object_in(draft.root, "linux");
  Node* namespaces = editor.array_in(linux, "namespaces");
  set_network(draft, namespaces, sandbox.shared);
  const std::string cgroup = sandbox.cgroups_path ? sandbox.cgroups_path(container.name) : "";
  if (cgroup.empty())
    Editor::remove(linux, "cgroupsPath");
  else
    editor.set(linux, "cgroupsPath", editor.text(cgroup));
  Node* user = find_namespace(namespaces, "user");
  if (container.bundle->keeps_user_namespace || user == nullptr) return;
  bundle::unlink(namespaces, user);
  Editor::remove(linux, "uidMappings");
  Editor::remove(linux, "gidMappings");
  warnings.push_back(fmt::format(
      "{}: the pod's user namespace, with all ids that you may use, replaces the bundle's",
      container.name));
}

Result<std::string> text_under_contract(const PodParts& parts, const Container& container,
                                        const bundle::Config& config, std::string_view text,
                                        std::vector<std::string>& warnings) {
  Draft draft;
  bundle::Report report;
  if (!draft.document.parse(text, report)) return refuse("{}", report.first_problem());
  draft.root = draft.document.root();
  Editor& editor = draft.editor;
  Node* root = editor.object_in(draft.root, "root");
  editor.set(root, "path", editor.text(config.root_path.string()));
  if (container.read_only_root) editor.set(root, "readonly", editor.boolean(true));  // KN-17
  set_variables(draft, parts.completed.pod(), container);
  set_seccomp_listener(draft, config);
  OCIRUN_TRY(set_user(draft, config, container, parts.sandbox.powers.set_groups));
  change_mounts(draft, config);
  add_mounts(draft, config, parts.network_files);
  set_sandbox(draft, container, parts.sandbox, warnings);
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.value(*draft.root);
  return std::move(out).take();
}

/// Warns of parts of the contract that a mount of the operator prevents.
Result<void> warn_of_unmet_clauses(std::string_view changed, const HostPath& operator_bundle,
                                   const std::string& container,
                                   std::vector<std::string>& warnings) {
  OCIRUN_TRY_ASSIGN(const bundle::Config config,
                    bundle::parse_config(changed, operator_bundle).take());
  ContractSubject subject{.config = config, .root = {}, .host_has_cgroup_v2_only = false};
  OCIRUN_TRY_ASSIGN(subject.root, linux::SafeDir::open_root(config.root_path));
  for (const auto& [words, judgement] :
       {std::pair{"KN-7: /tmp can be written to", judge_tmp(subject)},
        std::pair{"KN-8: /var/log can be written to", judge_var_log(subject)}})
    if (judgement.verdict == Verdict::kNotMet)
      warnings.push_back(fmt::format("{}: {}: is not met: {}", container, words, judgement.reason));
  return {};
}

}  // namespace

Result<ReadyContainer> prepare_contract_bundle(const PodParts& parts, const Container& container,
                                               const Site& site) {
  const HostPath operator_bundle(container.bundle->directory);
  auto prepared = [&]() -> Result<ReadyContainer> {
    ReadyContainer ready;
    ready.container = &container;
    ready.bundle = fmt::format("{}/{}", site.path, container.name);
    JsonWriter checked(JsonWriter::Layout::kOneLine);  // the text that read_bundle() has checked
    checked.value(*parts.completed.workload().source->root());
    const std::string text = std::move(checked).take();
    OCIRUN_TRY_ASSIGN(const bundle::Config config,
                      bundle::parse_config(text, operator_bundle).take());
    ready.launch.args = config.process->args;
    ready.stop_signal = bundle::stop_signal(config.annotations).value_or(SIGTERM);
    OCIRUN_TRY_ASSIGN(const std::string changed,
                      text_under_contract(parts, container, config, text, ready.warnings));
    OCIRUN_TRY(warn_of_unmet_clauses(changed, operator_bundle, container.name, ready.warnings));
    OCIRUN_TRY(sys::mkdirat(site.fd, container.name.c_str(), 0711));
    OCIRUN_TRY_ASSIGN(const UniqueFd made, sys::openat(site.fd, container.name.c_str(),
                                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY(linux::replace_file(made, "config.json", changed, 0600));
    return ready;
  }();
  return within(std::move(prepared), operator_bundle.string());
}

}  // namespace ocirun::pods
