#include "bundle/json/edit.hpp"

namespace ocirun::bundle {

using Kind = Node::Kind;

Node* member_of(Node* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  for (Node* node = object->first; node != nullptr; node = node->next)
    if (node->key == name) return node;
  return nullptr;
}

void unlink(Node* parent, const Node* node) {
  Node** link = &parent->first;
  while (*link != node) link = &(*link)->next;
  *link = node->next;
}

void append(Node* parent, Node* node, std::string_view name) {
  node->key = name;
  node->next = nullptr;
  Node** link = &parent->first;
  while (*link != nullptr) link = &(*link)->next;
  *link = node;
}

void insert(Node* array, Node* node, const Node* place) {
  Node** link = &array->first;
  while (*link != place) link = &(*link)->next;
  node->next = *link;
  *link = node;
}

Node* Editor::text(std::string_view content) {
  Node* node = document_.make(Kind::kString);
  node->text = document_.keep(content);
  return node;
}

Node* Editor::number(std::uint64_t natural) {
  Node* node = document_.make(Kind::kNatural);
  node->number = natural;
  return node;
}

Node* Editor::boolean(bool flag) {
  Node* node = document_.make(Kind::kBoolean);
  node->boolean = flag;
  return node;
}

Node* Editor::array() { return document_.make(Kind::kArray); }
Node* Editor::object() { return document_.make(Kind::kObject); }

void Editor::set(Node* object, std::string_view name, Node* value) {
  remove(object, name);
  append(object, value, document_.keep(name));
}

Node* Editor::container_in(Node* object, std::string_view name, Kind kind) {
  Node* node = member_of(object, name);
  if (node != nullptr && node->kind != Kind::kNull) return node;
  node = document_.make(kind);
  set(object, name, node);
  return node;
}

Node* Editor::object_in(Node* object, std::string_view name) {
  return container_in(object, name, Kind::kObject);
}
Node* Editor::array_in(Node* object, std::string_view name) {
  return container_in(object, name, Kind::kArray);
}

void Editor::remove(Node* object, std::string_view name) {
  if (const Node* node = member_of(object, name)) unlink(object, node);
}

}  // namespace ocirun::bundle
