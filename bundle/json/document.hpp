#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include "bundle/json/report.hpp"

namespace ocirun::bundle {

/// One value of a JSON document. Members and elements keep the document's order.
struct Node {
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kNegative,  // an integer below 0 that fits 64 bits
    kNatural,   // an integer from 0 to 2^64-1
    kOther,  // a fraction, an exponent, or an integer that 64 bits cannot hold: `text` as written
    kString,
    kArray,
    kObject
  };
  Kind kind = Kind::kNull;
  bool boolean = false;
  bool plain = false;            // a scalar that YAML writes without quotes
  std::uint32_t index = 0;       // in its array
  std::string_view key;          // in its object
  std::string_view text;         // of kString and kOther; in YAML, of kNegative and kNatural too
  std::uint64_t number = 0;      // of kNatural; of kNegative in two's complement
  const Node* parent = nullptr;  // nullptr for the root
  Node* first = nullptr;         // of kArray, kObject
  Node* next = nullptr;
  const char* written_key = nullptr;  // the key in the text, if legacy_0_5 renamed it; for messages

  bool is_object() const { return kind == Kind::kObject; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_string() const { return kind == Kind::kString; }
  /// The member `name`; nullptr if the member is absent or null (D-6). Takes linear time.
  Node* find(std::string_view name) const;
};

/// The version of the library that reads JSON, such as "3.11.2".
std::string_view nlohmann_json_version();

/// The JSON pointer (RFC 6901) of `node` for messages, such as "/process/args/0". Control
/// characters are escaped, long names cut.
std::string pointer_to(const Node& node);
/// The pointer of the member `name` of `parent`. The member may be absent.
std::string pointer_below(const Node& parent, std::string_view name);
/// A name as a part of a pointer: "/" becomes "~1".
std::string pointer_token(std::string_view name);

/// A parsed document. Parsing loses nothing: a number that 64 bits cannot hold is kept as text. The
/// document owns all nodes and texts, in one arena.
class Document {
 public:
  static constexpr std::size_t kMaxSize = std::size_t{16} << 20;  // bytes
  static constexpr std::size_t kMaxDepth = 64;                    // nested arrays and objects

  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// Parses UTF-8 JSON. Reports bad syntax or encoding (with line and column), a name that occurs
  /// twice in one object (D-3), more than kMaxDepth levels, and more than kMaxSize bytes. Returns
  /// false, with a root() of nullptr, unless the whole text was parsed; a name that occurs twice
  /// does not end the parsing.
  bool parse(std::string_view text, Report& report);

  Node* root() { return root_; }
  /// Makes a node that belongs to the document, linked to no other node.
  Node* make(Node::Kind kind);
  /// Copies `text` into the document.
  std::string_view keep(std::string_view text);

 private:
  std::pmr::monotonic_buffer_resource arena_;
  Node* root_ = nullptr;
};

// Changes of a parsed document in place.

/// The member `name` of `object`, even if it is null, unlike Node::find(). Returns nullptr if there
/// is no such member, or if `object` is no object or nullptr.
Node* member_of(Node* object, std::string_view name);

/// Takes `node` out of the object or array `parent`.
void unlink(Node* parent, const Node* node);

/// Puts `node` behind the last member or element of `parent`. `name`: of a member; "" in an array.
/// node->parent stays, so that messages about a moved node point to its place in the user's
/// document.
void append(Node* parent, Node* node, std::string_view name);

/// Puts `node` in front of the element `place` of `array`. `place` is nullptr: behind the last one.
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

  /// Makes `value` the last member of `object`, with the name `name`. An earlier member of that
  /// name is taken out.
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
