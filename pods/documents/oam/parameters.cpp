#include "pods/documents/oam/application.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>

#include "bundle/json/document.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // as of a file (Source)

struct FieldPath {
  std::string text;
  Place place = nullptr;
};

struct Parameter {
  std::string name;
  std::vector<FieldPath> paths;
  bool is_required = false;
  Place place = nullptr;
};

bool field_path(Value at, FieldPath& out) {
  out.place = &at.node();
  return nonempty_string(at, out.text);
}

constexpr auto kParameter = placed(exact_fields<Parameter>(
    required("name", &Parameter::name, nonempty_string),
    required("fieldPaths", &Parameter::paths, list_of(field_path)),
    field("required", &Parameter::is_required, boolean), part("description", [](Value at, auto&) {
      std::string text;
      return string(at, text);
    })));

constexpr auto parameters = unique_list_of(kParameter, by("name", &Parameter::name));

constexpr auto kValue = placed(exact_fields<ParameterValue>(
    required("name", &ParameterValue::name, nonempty_string),
    required_part("value", [](Value at, ParameterValue& out) {
      out.value = &at.node();
      if (!has_one_reading(at, Wanted::kNumberOrText)) return false;
      const bool is_number =
          at.node().kind == Node::Kind::kNatural || at.node().kind == Node::Kind::kNegative;
      if (is_number || at.node().is_string()) return true;
      at.problem("must be a string or a whole number, not {}", found(at));
      return false;
    })));

/// The steps of a path such as spec.containers[0].image or metadata.labels[app].
std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> steps;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    if (end != 0) steps.push_back(path.substr(0, end));
    const bool is_bracket = end < path.size() && path[end] == '[';
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!is_bracket) continue;
    std::string_view inner = linux::cut(path, ']');
    for (const char quote : {'"', '\''})
      if (inner.size() > 1 && inner.front() == quote && inner.back() == quote)
        inner = inner.substr(1, inner.size() - 2);
    steps.push_back(inner);
  }
  return steps;
}

/// The values of a workload while parameters are set, found without a walk through each list.
class Fields {
 public:
  explicit Fields(bundle::Document& arena) : arena_(arena) {}

  /// The scalar that the path leads to, which is made if only names of objects are missing; nullptr
  /// if the path leads nowhere.
  Node* find_or_make(Node* at, std::string_view path) {
    const auto steps = steps_of(path);
    if (steps.size() > bundle::Document::kMaxDepth) return nullptr;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Node::Kind missing = i + 1 == steps.size() ? Node::Kind::kString : Node::Kind::kObject;
      Node* child = child_of(at, steps[i]);
      if (child == nullptr) {
        if (!at->is_object()) return nullptr;
        child = add_member(at, steps[i], missing);
      } else if (child->kind == Node::Kind::kNull && at->is_object()) {
        child->kind = missing;
      }
      at = child;
    }
    return steps.empty() || at->is_object() || at->is_array() ? nullptr : at;
  }

 private:
  struct Children {
    std::vector<Node*> elements;
    std::unordered_map<std::string_view, Node*> members;
    Node* last = nullptr;
  };

  Children& children_of(Node* parent) {
    const auto [known, is_new] = children_.try_emplace(parent);
    if (!is_new) return known->second;
    for (Node* child = parent->first; child != nullptr; child = child->next) {
      if (parent->is_array()) known->second.elements.push_back(child);
      if (parent->is_object()) known->second.members.emplace(child->key, child);
      known->second.last = child;
    }
    return known->second;
  }

  /// An element or a member of `parent`; nullptr if there is none.
  Node* child_of(Node* parent, std::string_view step) {
    Children& children = children_of(parent);
    if (parent->is_array()) {
      const auto index = linux::number<std::uint32_t>(step);
      return index && *index < children.elements.size() ? children.elements[*index] : nullptr;
    }
    const auto member = children.members.find(step);
    return member == children.members.end() ? nullptr : member->second;
  }

  /// A new member, whose place in messages is that of `parent`.
  Node* add_member(Node* parent, std::string_view name, Node::Kind kind) {
    Node* member = arena_.make(kind);
    member->parent = parent;
    member->key = arena_.keep(name);
    Children& children = children_of(parent);
    (children.last == nullptr ? parent->first : children.last->next) = member;
    children.last = member;
    children.members.emplace(member->key, member);
    return member;
  }

  bundle::Document& arena_;
  std::unordered_map<const Node*, Children> children_;
};

void copy_scalar(const Node& from, Node& to) {
  to.kind = from.kind;
  to.text = from.text;
  to.number = from.number;
  to.plain = from.plain;
}

/// Sets the fields of the parameter. `copied`: the bytes of all values, which must fit into a
/// document.
void set(const Parameter& parameter, const ParameterValue& value, Node* workload,
         bundle::Report& report, Fields& fields, std::size_t& copied) {
  for (const FieldPath& path : parameter.paths) {
    copied += value.value->text.size();
    if (copied > kMostBytes)
      return Value(*path.place, report)
          .problem("with the values of the parameters, the document would have more than {} bytes",
                   kMostBytes);
    Node* field = fields.find_or_make(workload, path.text);
    if (field != nullptr)
      copy_scalar(*value.value, *field);
    else
      Value(*path.place, report).problem("\"{}\" leads to no value of the workload", path.text);
  }
}

void refuse_unknown(const std::vector<ParameterValue>& values, const std::vector<Parameter>& known,
                    bundle::Report& report) {
  std::vector<std::string_view> names;
  std::set<std::string_view> sorted;
  for (const Parameter& parameter : known) {
    names.push_back(parameter.name);
    sorted.insert(parameter.name);
  }
  for (const ParameterValue& value : values) {
    if (sorted.contains(value.name)) continue;
    if (report.problem_count() > bundle::Report::kMaxListed) return;
    const Value name = *Value(*value.place, report).member("name");
    if (names.empty())
      name.problem("the component has no parameters, so none is called {}", found(name));
    else
      bundle::unknown_word(name, "parameter of the component", names);
  }
}

}  // namespace

bool parameter_values(Value at, std::vector<ParameterValue>& out) {
  return unique_list_of(kValue, by("name", &ParameterValue::name))(at, out);
}

void set_parameters(Value component, const std::vector<ParameterValue>& values,
                    bundle::Document& arena) {
  Node* spec = component.node().find("spec");
  Node* workload = spec != nullptr ? spec->find("workload") : nullptr;
  if (workload == nullptr || !workload->is_object()) return;  // a fault that is told elsewhere
  std::vector<Parameter> known;
  const auto list = Value(*spec, component.report()).member("parameters");
  if (list && !parameters(*list, known)) return;
  refuse_unknown(values, known, component.report());
  Fields fields(arena);
  std::map<std::string_view, const ParameterValue*> by_name;
  for (const ParameterValue& value : values) by_name.emplace(value.name, &value);
  std::size_t copied = 0;
  for (const Parameter& parameter : known) {
    const auto value = by_name.find(parameter.name);
    if (value != by_name.end())
      set(parameter, *value->second, workload, component.report(), fields, copied);
    else if (parameter.is_required)
      Value(*parameter.place, component.report())
          .problem(
              "the parameter \"{}\" is required: parameterValues of an ApplicationConfiguration in "
              "this file give it a value",
              parameter.name);
  }
}

}  // namespace ocirun::pods
