#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/document.hpp"

namespace ocirun::pods {

/// `root` as a YAML document, which a reader of YAML 1.1 and a reader of YAML 1.2 understand alike:
/// a text that either would take for a boolean, a number, a time or null is in quotes. Ends with a
/// line break.
std::string yaml_text(const bundle::Node& root);

/// An object or a list of a document that is being made. Members and items stand in the order in
/// which they are added. Valid while the bundle::Document exists.
class YamlPart {
 public:
  YamlPart(bundle::Document& document, bundle::Node* node) : document_(&document), node_(node) {}
  static YamlPart object(bundle::Document& document) {
    return {document, document.make(bundle::Node::Kind::kObject)};
  }

  bundle::Node* node() const { return node_; }
  bool empty() const { return node_->first == nullptr; }
  bool has(std::string_view name) const { return node_->find(name) != nullptr; }
  /// Parts that are not in the document yet.
  YamlPart new_object() const { return object(*document_); }
  YamlPart new_list() const { return {*document_, document_->make(bundle::Node::Kind::kArray)}; }

  /// Another part of the same document.
  YamlPart same_document(bundle::Node* node) const { return {*document_, node}; }

  /// Each adds a member `name`, which the object must not have; or, with "" for `name`, an item of
  /// a list.
  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, const char* text) { add(name, std::string_view(text)); }
  void add(std::string_view name, bool flag);
  template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>)
  void add(std::string_view name, Number number) {
    add_number(name, number);
  }
  void add(std::string_view name, const std::vector<std::string>& texts);
  /// Adds `part` even if it is empty.
  void add(std::string_view name, const YamlPart& part) { put(name, part.node_); }
  /// Adds a member that is a number with a fraction, as `text` writes it.
  void add_literal(std::string_view name, std::string_view text);
  void add_unless_empty(std::string_view name, const YamlPart& part) {
    if (!part.empty()) add(name, part);
  }
  void add_unless_empty(std::string_view name, std::string_view text) {
    if (!text.empty()) add(name, text);
  }

  /// Replaces each text in the part. Names stay.
  void change_texts(const std::function<std::string(std::string_view)>& change);

  /// A new member or item, which is empty at first.
  YamlPart add_object(std::string_view name = "");
  YamlPart add_list(std::string_view name);
  /// The member `name`; a new object or list if there is none.
  YamlPart object_in(std::string_view name);
  YamlPart list_in(std::string_view name);

 private:
  void add_number(std::string_view name, std::uint64_t number);
  void put(std::string_view name, bundle::Node* value);

  bundle::Document* document_;
  bundle::Node* node_;
  bundle::Node* last_ = nullptr;  // a late member or item, so that a long list takes linear time
};

}  // namespace ocirun::pods
