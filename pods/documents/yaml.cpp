#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <limits>
#include <optional>
#include <sstream>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/yaml_words.hpp"
#include "pods/documents/source.hpp"

namespace ocirun::pods {
namespace {

using bundle::Document;
using bundle::Node;

/// Thrown through yaml-cpp to end the parsing. The report has the problem already.
struct Stop {};

std::optional<std::uint64_t> natural(std::string_view word) {
  const int base = word.starts_with("0x") ? 16 : word.starts_with("0o") ? 8 : 10;
  if (base != 10) word.remove_prefix(2);
  return linux::number(word, base);
}

/// Whether YAML 1.1, in which a leading 0 means octal, does not read `digits` as the number
/// `value`.
bool is_octal_in_yaml_1_1(std::string_view digits, std::uint64_t value) {
  return digits.size() > 1 && digits.front() == '0' &&
         digits.find_first_not_of("0123456789") == std::string_view::npos &&
         yaml_1_1_value(digits) != fmt::format("{}", value);
}

/// Gives `node`, whose text is a scalar without quotes, the type that YAML 1.2's core schema gives.
/// A number such as 010, which YAML 1.1 reads otherwise, keeps its text alone: no reader of numbers
/// takes it unless it knows what the digits are (permission_bits()).
void resolve(Node& node) {
  node.plain = true;
  const std::string_view word = node.text;
  const bool is_true = is_one_of(word, {"true", "True", "TRUE"});
  if (is_true || is_one_of(word, {"false", "False", "FALSE"})) {
    node.kind = Node::Kind::kBoolean;
    node.boolean = is_true;
    return;
  }
  const bool negative = word.starts_with('-');
  const auto digits = word.substr(negative || word.starts_with('+') ? 1 : 0);
  const auto value = natural(digits);
  const std::uint64_t most_negative = std::uint64_t{1} << 63;
  const bool is_octal = value && is_octal_in_yaml_1_1(digits, *value);
  if (value && !is_octal && (!negative || *value <= most_negative)) {
    node.kind = negative && *value != 0 ? Node::Kind::kNegative : Node::Kind::kNatural;
    node.number = negative ? 0 - *value : *value;
  } else if (is_octal || is_yaml_float(word)) {
    node.kind = Node::Kind::kOther;
  }
}

}  // namespace

/// The handler of yaml-cpp's events; builds the tree.
class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(Source& source, bundle::Report& report) : source_(source), report_(report) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp goes on for ever behind a "," that no value precedes (its issue 1040): for yaml-cpp
    // each of the documents there is empty and begins at the same place.
    if (mark.pos == document_start_) stop(mark, "not valid YAML: no value begins here");
    document_start_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (open_.empty()) return;  // a document without a value, as behind a last "---"
    if (wants_name()) stop(mark, "a name is missing before \":\"");
    add(mark, Node::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    stop(mark, "is an alias (\"*\"): write the value itself");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    const bool plain = tag == "?";
    if (!plain && tag != "!") refuse_tag(mark, tag);
    if (wants_name()) {
      if (plain && value == "<<")
        stop(mark, "is a merge key (\"<<\"): write the members themselves");
      open_.back().name = source_.document_.keep(value);
      open_.back().has_name = true;
      open_.back().name_mark = to_mark(mark);
      if (plain) refuse_two_names(mark, value);
      return;
    }
    Node* node = add(mark, Node::Kind::kString);
    node->text = source_.document_.keep(value);
    if (plain) resolve(*node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(mark, tag, anchor, Node::Kind::kArray);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(mark, tag, anchor, Node::Kind::kObject);
  }
  void OnMapEnd() override { open_.pop_back(); }

  /// A syntax error that yaml-cpp has found.
  void fail(const YAML::Exception& exception) {
    report(exception.mark, fmt::format("not valid YAML: {}", exception.msg));
  }

 private:
  struct Open {
    Node* node = nullptr;
    Node* last = nullptr;
    std::uint32_t size = 0;
    bool has_name = false;
    std::string_view name;
    Mark name_mark;
    std::unordered_map<std::string_view, Mark> names;
  };

  static Mark to_mark(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {static_cast<unsigned>(mark.line) + 1, static_cast<unsigned>(mark.column) + 1};
  }

  bool wants_name() const {
    return !open_.empty() && open_.back().node->is_object() && !open_.back().has_name;
  }

  Node* add(const YAML::Mark& mark, Node::Kind kind) {
    Node* node = source_.document_.make(kind);
    source_.marks_[node] = to_mark(mark);
    if (open_.empty()) {
      source_.roots_.push_back(node);
      return node;
    }
    Open& container = open_.back();
    node->parent = container.node;
    node->index = container.size++;
    (container.last == nullptr ? container.node->first : container.last->next) = node;
    container.last = node;
    if (!container.node->is_object()) return node;
    node->key = container.name;
    container.has_name = false;
    const auto [first, is_new] = container.names.emplace(container.name, container.name_mark);
    if (!is_new) {
      source_.marks_[node] = container.name_mark;
      report_.problem(fmt::format("{}: the name {} occurs twice in this object (first at line {})",
                                  bundle::pointer_to(*node), bundle::in_quotes(container.name),
                                  first->second.line),
                      node);
    }
    return node;
  }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             Node::Kind kind) {
    refuse_anchor(mark, anchor);
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark, tag);
    if (wants_name()) stop(mark, "is a list or an object as a name: a name must be a text");
    Node* node = add(mark, kind);
    if (open_.size() == Document::kMaxDepth)
      stop(mark, fmt::format("nested more than {} levels deep", Document::kMaxDepth));
    open_.emplace_back().node = node;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      stop(mark, "has an anchor (\"&\"), which only an alias could use: write the value itself");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    stop(mark, fmt::format("has the tag {}: tags are not read", bundle::in_quotes(tag)));
  }

  /// A name without quotes that kubectl would change, such as "on" of a config map.
  void refuse_two_names(const YAML::Mark& mark, const std::string& name) {
    const std::string other = yaml_1_1_name(name);
    if (other != name)
      report(mark,
             fmt::format("the name without quotes is {} in YAML 1.1, as kubectl reads it, and "
                         "{} in YAML 1.2: write it in quotes",
                         bundle::in_quotes(other), bundle::in_quotes(name)));
  }

  [[noreturn]] void stop(const YAML::Mark& mark, std::string_view what) {
    report(mark, what);
    throw Stop{};
  }

  /// Reports a problem of a place that has no value: with a node of its own, for the mark.
  void report(const YAML::Mark& mark, std::string_view what) {
    Node* place = source_.document_.make(Node::Kind::kNull);
    source_.marks_[place] = to_mark(mark);
    report_.problem(fmt::format("{}: {}", here(), what), place);
  }

  std::string here() const {
    if (open_.empty()) return "the document";
    const Open& container = open_.back();
    if (!container.node->is_object())
      return bundle::pointer_below(*container.node, fmt::format("{}", container.size));
    return container.has_name ? bundle::pointer_below(*container.node, container.name)
                              : bundle::pointer_to(*container.node);
  }

  Source& source_;
  bundle::Report& report_;
  std::vector<Open> open_;
  int document_start_ = -1;  ///< the offset of the document that is read, in bytes
};

bool Source::parse_yaml(std::string_view text, bundle::Report& report) {
  if (!bundle::is_utf8(text)) {
    report.problem("the document: is not valid UTF-8");
    return false;
  }
  YamlBuilder builder(*this, report);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (roots_.empty()) report.problem("the document: is empty");
    return !roots_.empty();
  } catch (const YAML::Exception& exception) {
    builder.fail(exception);
    roots_.clear();
  } catch (const Stop&) {
    roots_.clear();  // the report has the problem
  }
  return false;
}

}  // namespace ocirun::pods
