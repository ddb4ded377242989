#pragma once

#include <cstdint>
#include <string_view>

#include "bundle/json/document.hpp"

namespace ocirun::bundle {

// Changes of a parsed document in place.

/// The member `name` of `object`, even if it is null: Node::find() does not find null. nullptr:
/// there is none, or `object` is no object or nullptr.
Node* member_of(Node* object, std::string_view name);

/// Takes `node` out of the object or array `parent`.
void unlink(Node* parent, const Node* node);

/// Puts `node` behind the last member or element of `parent`. `name`: of a member; "" in an array.
/// node->parent stays, so that messages about a moved node point to its place in the user's
/// document.
void append(Node* parent, Node* node, std::string_view name);

/// Puts `node` in front of the element `place` of `array`; nullptr: behind the last one.
void insert(Node* array, Node* node, const Node* place);

/// Makes new values of one document, and puts them into objects and arrays of the document.
class Editor {
 public:
  explicit Editor(Document& document) : document_(document) {}

  Node* text(std::string_view content);
  Node* number(std::uint64_t natural);
  Node* boolean(bool flag);
  Node* array();
  Node* object();

  /// Makes `value` the member `name`, behind the others.
  void set(Node* object, std::string_view name, Node* value);
  /// The member `name`; one that is absent or null becomes a new object or array.
  Node* object_in(Node* object, std::string_view name);
  Node* array_in(Node* object, std::string_view name);
  /// Takes the member `name` out of `object`, if it is there.
  static void remove(Node* object, std::string_view name);

 private:
  Node* container_in(Node* object, std::string_view name, Node::Kind kind);

  Document& document_;
};

}  // namespace ocirun::bundle
