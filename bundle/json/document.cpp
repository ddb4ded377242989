#include "bundle/json/document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

/// Builds the tree from the SAX events of nlohmann::json. An event function that returns false ends
/// the parsing.
class TreeBuilder {
 public:
  TreeBuilder(Document& document, Report& report) : document_(document), report_(report) {
    open_.reserve(16);
  }
  Node* root() const { return root_; }

  bool null() { return add(Node::Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    add(Node::Kind::kBoolean)->boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    const auto kind = value < 0 ? Node::Kind::kNegative : Node::Kind::kNatural;
    add(kind)->number = static_cast<std::uint64_t>(value);
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    add(Node::Kind::kNatural)->number = value;
    return true;
  }
  bool number_float(double /*value*/, const std::string& literal) {
    add(Node::Kind::kOther)->text = document_.keep(literal);
    return true;
  }
  bool string(const std::string& value) {
    add(Node::Kind::kString)->text = document_.keep(value);
    return true;
  }
  // JSON text has no binary values.
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }

  bool start_object(std::size_t /*size*/) { return open(Node::Kind::kObject); }
  bool start_array(std::size_t /*size*/) { return open(Node::Kind::kArray); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool end_object() {
    check_names(open_.back());
    open_.pop_back();
    return true;
  }
  bool key(const std::string& name) {
    key_ = document_.keep(name);
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: REASON; last read: '…'"
    std::string_view reason = exception.what();
    reason.remove_prefix(std::min(reason.find("] ") + 2, reason.size()));
    constexpr std::string_view kPrefix = "parse error at ";
    if (reason.starts_with(kPrefix)) reason.remove_prefix(kPrefix.size());
    std::string sentence(reason.substr(0, reason.find("; last read")).substr(0, 200));
    report_.problem(fmt::format("{}: not valid JSON: {}", here(), sentence));
    return false;
  }

 private:
  struct Open {
    Node* node;
    Node* last = nullptr;
    std::uint32_t size = 0;
  };

  Node* add(Node::Kind kind) {
    Node* node = document_.make(kind);
    if (open_.empty()) return root_ = node;
    Open& container = open_.back();
    node->parent = container.node;
    node->index = container.size++;
    if (container.node->is_object()) node->key = key_;
    (container.last == nullptr ? container.node->first : container.last->next) = node;
    container.last = node;
    return node;
  }

  bool open(Node::Kind kind) {
    Node* node = add(kind);
    if (open_.size() == Document::kMaxDepth) {
      report_.problem(fmt::format("{}: nested more than {} levels deep", pointer_to(*node),
                                  Document::kMaxDepth));
      return false;
    }
    open_.push_back(Open{node});
    return true;
  }

  /// Reports names that occur twice (D-3). Compares the names of a small object pairwise. Sorts the
  /// names of a large object, because a hostile document must not cost quadratic time.
  void check_names(const Open& object) {
    if (object.size <= 24) {
      for (const Node* a = object.node->first; a != nullptr; a = a->next)
        for (const Node* b = object.node->first; b != a; b = b->next)
          if (a->key == b->key) {
            report_duplicate(*a);
            break;
          }
      return;
    }
    std::vector<const Node*> members;
    members.reserve(object.size);
    for (const Node* node = object.node->first; node != nullptr; node = node->next)
      members.push_back(node);
    std::ranges::sort(members, {},
                      [](const Node* node) { return std::pair(node->key, node->index); });
    for (std::size_t i = 1; i < members.size(); ++i)
      if (members[i]->key == members[i - 1]->key) report_duplicate(*members[i]);
  }

  void report_duplicate(const Node& node) {
    report_.problem(fmt::format("{}: the name {} occurs twice in this object", pointer_to(node),
                                in_quotes(node.key)),
                    &node);
  }

  /// The pointer of the next element of an array, or of the object whose member is being read.
  std::string here() const {
    if (open_.empty()) return "the document";
    const Open& container = open_.back();
    if (!container.node->is_object())
      return pointer_below(*container.node, fmt::format("{}", container.size));
    return pointer_to(*container.node);
  }

  Document& document_;
  Report& report_;
  std::vector<Open> open_;
  std::string_view key_;
  Node* root_ = nullptr;
};

void append_token(std::string& out, std::string_view name) {
  constexpr std::size_t kLongest = 80;
  for (const char c : name.substr(0, kLongest)) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  if (name.size() > kLongest) out += "...";
}

void append_pointer(std::string& out, const Node& node) {
  if (node.parent == nullptr) return;
  append_pointer(out, *node.parent);
  out += '/';
  if (node.parent->is_array())
    out += fmt::format("{}", node.index);
  else
    append_token(out, node.written_key != nullptr ? node.written_key : node.key);
}

}  // namespace

Node* Node::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (Node* node = first; node != nullptr; node = node->next)
    if (node->key == name) return node->kind == Kind::kNull ? nullptr : node;
  return nullptr;
}

std::string pointer_to(const Node& node) {
  if (node.parent == nullptr) return "the document";
  std::string out;
  append_pointer(out, node);
  return out;
}

std::string pointer_below(const Node& parent, std::string_view name) {
  std::string out;
  append_pointer(out, parent);
  out += '/';
  append_token(out, name);
  return out;
}

std::string pointer_token(std::string_view name) {
  std::string out;
  append_token(out, name);
  return out;
}

bool Document::parse(std::string_view text, Report& report) {
  if (text.size() > kMaxSize) {
    report.problem(
        fmt::format("the document: {} bytes, at most {} are read", text.size(), kMaxSize));
    return false;
  }
  TreeBuilder builder(*this, report);
  const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  root_ = whole ? builder.root() : nullptr;
  return root_ != nullptr;
}

Node* Document::make(Node::Kind kind) {
  Node* node = new (arena_.allocate(sizeof(Node), alignof(Node))) Node;
  node->kind = kind;
  return node;
}

std::string_view Document::keep(std::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::ranges::copy(text, copy);
  return {copy, text.size()};
}

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

std::string_view nlohmann_json_version() {
  static const std::string version =
      fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                  NLOHMANN_JSON_VERSION_PATCH);
  return version;
}

}  // namespace ocirun::bundle
