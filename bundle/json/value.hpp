#pragma once

#include <fmt/core.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/error.hpp"

namespace ocirun::bundle {

/// A value of a document, and the report that gets the problems of the value. The document and the
/// report must outlive the Value.
class Value {
 public:
  Value(const Node& node, Report& report) : node_(&node), report_(&report) {}

  const Node& node() const { return *node_; }
  Report& report() const { return *report_; }
  std::string_view key() const { return node_->key; }
  bool is_null() const { return node_->kind == Node::Kind::kNull; }
  /// The member `name`; nothing if the member is absent or null.
  std::optional<Value> member(std::string_view name) const;

  template <typename... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) const {
    complain("", format, fmt::make_format_args(args...));
  }
  /// Reports a problem of the member `name` of this object. The member may be absent.
  template <typename... Args>
  void problem_at(std::string_view name, fmt::format_string<Args...> format, Args&&... args) const {
    complain(name, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    warn(format, fmt::make_format_args(args...));
  }

  /// Each of these reports a problem if the value is of another type.
  bool expect_object() const { return expect(Node::Kind::kObject, "an object"); }
  bool expect_list() const { return expect(Node::Kind::kArray, "a list"); }
  bool expect_string() const { return expect(Node::Kind::kString, "a string"); }
  bool expect_boolean() const { return expect(Node::Kind::kBoolean, "true or false"); }

  /// Members of an object or elements of a list, in the document's order.
  class Iterator {
   public:
    Iterator(const Node* node, Report* report) : node_(node), report_(report) {}
    Value operator*() const { return {*node_, *report_}; }
    Iterator& operator++() {
      node_ = node_->next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return node_ == other.node_; }

   private:
    const Node* node_;
    Report* report_;
  };
  Iterator begin() const { return {node_->first, report_}; }
  Iterator end() const { return {nullptr, report_}; }

 private:
  bool expect(Node::Kind kind, std::string_view wanted) const;
  void complain(std::string_view name, fmt::string_view format, fmt::format_args args) const;
  void warn(fmt::string_view format, fmt::format_args args) const;

  const Node* node_;
  Report* report_;
};

/// The text of an error of linux/ or cgroups/ for a problem: the frames, without the errno's text.
std::string reason(const Error& error);

/// "a, b, c"
std::string comma_list(std::span<const std::string_view> words);

/// The value as messages show it: `"abc"`, `12`, `true`, `a list`.
std::string found(const Value& at);

}  // namespace ocirun::bundle
