#include "bundle/json/value.hpp"

#include "bundle/json/writer.hpp"

namespace ocirun::bundle {

std::optional<Value> Value::member(std::string_view name) const {
  const Node* node = node_->find(name);
  if (node == nullptr) return {};
  return Value(*node, *report_);
}

bool Value::expect(Node::Kind kind, std::string_view wanted) const {
  if (node_->kind == kind) return true;
  problem("must be {}, not {}", wanted, found(*this));
  return false;
}

void Value::complain(std::string_view name, fmt::string_view format, fmt::format_args args) const {
  std::string sentence = name.empty() ? pointer_to(*node_) : pointer_below(*node_, name);
  sentence += ": ";
  sentence += fmt::vformat(format, args);
  const Node* member = name.empty() ? nullptr : node_->find(name);
  report_->problem(std::move(sentence), member != nullptr ? member : node_);
}

void Value::warn(fmt::string_view format, fmt::format_args args) const {
  report_->warning(pointer_to(*node_) + ": " + fmt::vformat(format, args), node_);
}

std::string reason(const Error& error) {
  std::string text;
  for (const std::string& frame : error.frames())
    text.append(text.empty() ? "" : ": ").append(frame);
  return text;
}

std::string comma_list(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string found(const Value& at) {
  const Node& node = at.node();
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kBoolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::kNegative:
      return fmt::format("{}", static_cast<std::int64_t>(node.number));
    case Node::Kind::kNatural:
      return fmt::format("{}", node.number);
    case Node::Kind::kOther:
      return std::string(node.text.substr(0, 40));
    case Node::Kind::kString:
      return in_quotes(node.text);
    case Node::Kind::kArray:
      return "a list";
    case Node::Kind::kObject:
      return "an object";
  }
  return {};
}

}  // namespace ocirun::bundle
