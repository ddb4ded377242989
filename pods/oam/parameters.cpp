#include "pods/oam/application.hpp"

#include <algorithm>

#include "bundle/json/document.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

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

/// An element or a member of `parent`; nullptr if there is none.
Node* child_of(Node* parent, std::string_view step) {
  if (!parent->is_array()) return bundle::member_of(parent, step);
  const auto index = linux::number<std::uint32_t>(step);
  Node* element = index ? parent->first : nullptr;
  for (std::uint32_t i = 0; element != nullptr && i < *index; ++i) element = element->next;
  return element;
}

/// A new member, whose place in messages is that of `parent`.
Node* add_member(Node* parent, std::string_view name, Node* member, bundle::Editor& editor) {
  member->parent = parent;
  editor.set(parent, name, member);
  return member;
}

/// The scalar that the path leads to, which is made if only names of objects are missing; nullptr
/// if the path leads nowhere.
Node* find_or_make(Node* at, std::string_view path, bundle::Editor& editor) {
  const auto steps = steps_of(path);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_last = i + 1 == steps.size();
    Node* child = child_of(at, steps[i]);
    if (child == nullptr || (child->kind == Node::Kind::kNull && !at->is_array())) {
      if (!at->is_object()) return nullptr;
      child = add_member(at, steps[i], is_last ? editor.text("") : editor.object(), editor);
    }
    at = child;
  }
  return steps.empty() || at->is_object() || at->is_array() ? nullptr : at;
}

void copy_scalar(const Node& from, Node& to) {
  to.kind = from.kind;
  to.text = from.text;
  to.number = from.number;
  to.plain = from.plain;
}

void set(const Parameter& parameter, const ParameterValue& value, Node* workload,
         bundle::Report& report, bundle::Editor& editor) {
  for (const FieldPath& path : parameter.paths) {
    Node* field = find_or_make(workload, path.text, editor);
    if (field != nullptr)
      copy_scalar(*value.value, *field);
    else
      Value(*path.place, report).problem("\"{}\" leads to no value of the workload", path.text);
  }
}

void refuse_unknown(const std::vector<ParameterValue>& values, const std::vector<Parameter>& known,
                    bundle::Report& report) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : known) names.push_back(parameter.name);
  for (const ParameterValue& value : values) {
    if (std::ranges::find(names, value.name) != names.end()) continue;
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
  bundle::Editor editor(arena);
  for (const Parameter& parameter : known) {
    const auto value = std::ranges::find(values, parameter.name, &ParameterValue::name);
    if (value != values.end())
      set(parameter, *value, workload, component.report(), editor);
    else if (parameter.is_required)
      Value(*parameter.place, component.report())
          .problem(
              "the parameter \"{}\" is required: parameterValues of an ApplicationConfiguration in "
              "this file give it a value",
              parameter.name);
  }
}

}  // namespace ocirun::pods
