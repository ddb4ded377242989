#include "bundle/config/sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bundle/config/oci_version.hpp"
#include "bundle/json/document.hpp"
#include "bundle/json/value.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::bundle {
namespace {

using Kind = Node::Kind;

Node* path(Node* node, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) node = member_of(node, name);
  return node;
}

void refuse_mixture(const Node& old_form, const Node& new_form, Report& report) {
  report.problem(
      fmt::format("{}: given together with {}, which is its newer name; keep one of them",
                  pointer_to(old_form), pointer_to(new_form)));
}

void rename(Node* object, const char* old_name, std::string_view new_name, Report& report) {
  Node* node = member_of(object, old_name);
  if (node == nullptr) return;
  if (const Node* newer = member_of(object, new_name)) return refuse_mixture(*node, *newer, report);
  node->key = new_name;
  node->written_key = old_name;
}

bool same_value(const Node& a, const Node& b) {
  return a.kind == b.kind && a.boolean == b.boolean && a.number == b.number && a.text == b.text &&
         !a.is_array() && !a.is_object();
}

/// Moves the member `name` from the object `from` to the object `to` (SD-8, SD-9). Different values
/// in both objects are a problem.
void move(Node* from, const char* name, Node* to, Report& report) {
  Node* node = member_of(from, name);
  if (node == nullptr || to == nullptr || !to->is_object()) return;
  const Node* newer = member_of(to, name);
  if (newer != nullptr && newer->kind != Kind::kNull) {
    if (!same_value(*node, *newer)) return refuse_mixture(*node, *newer, report);
    return unlink(from, node);
  }
  if (newer != nullptr) unlink(to, newer);
  unlink(from, node);
  append(to, node, name);
}

/// SD-5: the list of a 0.5 document becomes the bounding, effective and permitted sets. The
/// inheritable and ambient sets stay empty: non-empty inheritable sets are CVE-2022-24769.
void split_capabilities(Document& document, Node* process) {
  Node* list = member_of(process, "capabilities");
  if (list == nullptr || !list->is_array()) return;
  Node* sets = document.make(Kind::kObject);
  sets->key = list->key;
  sets->parent = process;
  sets->next = list->next;
  Node** link = &process->first;
  while (*link != list) link = &(*link)->next;
  *link = sets;
  for (const char* name : {"bounding", "effective", "permitted"}) {
    Node* copy = document.make(Kind::kArray);
    *copy = *list;  // the copies share the elements: no later step changes an element
    append(sets, copy, name);
    copy->written_key = "capabilities";
  }
}

/// SD-11: the member `name` of a seccomp rule becomes the list `names` with one element.
void name_to_names(Document& document, Node* rule, Report& report) {
  Node* name = member_of(rule, "name");
  if (name == nullptr) return;
  if (const Node* names = member_of(rule, "names")) return refuse_mixture(*name, *names, report);
  Node* list = document.make(Kind::kArray);
  list->parent = rule;
  list->written_key = "name";
  list->first = name;
  unlink(rule, name);
  name->next = nullptr;
  append(rule, list, "names");
}

/// SD-17: removes timeouts of 0, which mean no timeout in 0.5. Since 1.0, 0 is an error.
void drop_zero_timeouts(Node* hooks) {
  if (hooks == nullptr || !hooks->is_object()) return;
  for (Node* list = hooks->first; list != nullptr; list = list->next) {
    if (!list->is_array()) continue;
    for (Node* hook = list->first; hook != nullptr; hook = hook->next)
      if (const Node* timeout = member_of(hook, "timeout");
          timeout != nullptr && timeout->kind == Kind::kNatural && timeout->number == 0)
        unlink(hook, timeout);
  }
}

/// SD-20: adds the option "bind" to a mount of type "bind". In 0.5, the type alone is enough.
void add_bind_option(Document& document, Node* mount) {
  const Node* type = member_of(mount, "type");
  if (type == nullptr || !type->is_string() || type->text != "bind") return;
  Node* options = member_of(mount, "options");
  if (options == nullptr || options->kind == Kind::kNull) {
    if (options != nullptr) unlink(mount, options);
    options = document.make(Kind::kArray);
    options->parent = mount;
    append(mount, options, "options");
  }
  if (!options->is_array()) return;
  std::uint32_t size = 0;
  for (const Node* item = options->first; item != nullptr; item = item->next, ++size)
    if (item->is_string() && (item->text == "bind" || item->text == "rbind")) return;
  Node* bind = document.make(Kind::kString);
  bind->parent = options;
  bind->index = size;
  bind->text = "bind";
  append(options, bind, {});
}

/// Moves and renames members of `linux.resources` (SD-8, SD-9, SD-10).
void rewrite_resources(Document& document, Node* resources, Node* process, Report& report) {
  if (resources == nullptr || !resources->is_object()) return;
  move(resources, "oomScoreAdj", process, report);
  const Node* flag = member_of(resources, "disableOOMKiller");
  if (flag != nullptr && resources->find("memory") == nullptr) {
    if (const Node* null = member_of(resources, "memory")) unlink(resources, null);
    Node* memory = document.make(Kind::kObject);
    memory->parent = resources;
    append(resources, memory, "memory");
  }
  move(resources, "disableOOMKiller", member_of(resources, "memory"), report);

  struct Renamed {
    const char* old_name;
    std::string_view new_name;
  };
  static constexpr std::array kBlockIo{
      Renamed{"blkioWeight", "weight"},
      Renamed{"blkioLeafWeight", "leafWeight"},
      Renamed{"blkioWeightDevice", "weightDevice"},
      Renamed{"blkioThrottleReadBpsDevice", "throttleReadBpsDevice"},
      Renamed{"blkioThrottleWriteBpsDevice", "throttleWriteBpsDevice"},
      Renamed{"blkioThrottleReadIOPSDevice", "throttleReadIOPSDevice"},
      Renamed{"blkioThrottleWriteIOPSDevice", "throttleWriteIOPSDevice"}};
  for (const Renamed& row : kBlockIo)
    rename(member_of(resources, "blockIO"), row.old_name, row.new_name, report);
}

#if defined(__x86_64__)
constexpr std::array<std::string_view, 2> kArchitectures{"amd64", "386"};
#elif defined(__aarch64__)
constexpr std::array<std::string_view, 2> kArchitectures{"arm64", "arm"};
#elif defined(__riscv)
constexpr std::array<std::string_view, 1> kArchitectures{"riscv64"};
#elif defined(__powerpc64__)
constexpr std::array<std::string_view, 1> kArchitectures{"ppc64le"};
#elif defined(__s390x__)
constexpr std::array<std::string_view, 2> kArchitectures{"s390x", "s390"};
#elif defined(__i386__)
constexpr std::array<std::string_view, 1> kArchitectures{"386"};
#elif defined(__arm__)
constexpr std::array<std::string_view, 1> kArchitectures{"arm"};
#else
constexpr std::array<std::string_view, 1> kArchitectures{"unknown"};
#endif

void check_platform(const Node& platform, Report& report) {  // SD-2
  if (!platform.is_object()) return;
  if (const Node* os = platform.find("os"); os != nullptr && os->text != "linux")
    report.problem(fmt::format("{}: {} is not supported (supported: linux)", pointer_to(*os),
                               in_quotes(os->text)));
  const Node* architecture = platform.find("arch");
  if (architecture == nullptr) return;
  if (std::ranges::find(kArchitectures, architecture->text) == kArchitectures.end())
    report.problem(fmt::format("{}: {} is not supported on this host (supported: {})",
                               pointer_to(*architecture), in_quotes(architecture->text),
                               comma_list(kArchitectures)));
}

bool is_name_letter(char c) { return linux::is_alphanumeric(c) || c == '_'; }

}  // namespace

std::string_view architecture_of_build() { return kArchitectures.front(); }

void check_legacy_rules(const Node& root, Report& report) {
  if (const Node* platform = root.find("platform")) check_platform(*platform, report);
  const Node* process = root.find("process");
  const Node* env = process == nullptr ? nullptr : process->find("env");
  if (env == nullptr || !env->is_array()) return;
  for (const Node* entry = env->first; entry != nullptr; entry = entry->next) {  // SD-7
    const std::string_view name = entry->text.substr(0, entry->text.find('='));
    if (!std::ranges::all_of(name, is_name_letter))
      report.problem(
          fmt::format("{}: {}: in a 0.5 document the name of an environment variable"
                      " consists of letters, digits and underscores",
                      pointer_to(*entry), in_quotes(name)));
  }
}

void legacy_to_current(Document& document, Report& report) {
  Node* root = document.root();
  Node* process = member_of(root, "process");
  split_capabilities(document, process);
  rewrite_resources(document, path(root, {"linux", "resources"}), process, report);
  if (Node* rules = path(root, {"linux", "seccomp", "syscalls"}); rules && rules->is_array())
    for (Node* rule = rules->first; rule != nullptr; rule = rule->next)
      name_to_names(document, rule, report);
  if (Node* mounts = member_of(root, "mounts"); mounts && mounts->is_array())
    for (Node* mount = mounts->first; mount != nullptr; mount = mount->next)
      add_bind_option(document, mount);
  drop_zero_timeouts(member_of(root, "hooks"));
  if (const Node* platform = member_of(root, "platform")) unlink(root, platform);
}

}  // namespace ocirun::bundle
