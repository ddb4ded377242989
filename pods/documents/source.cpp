#include "pods/documents/source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {
namespace {

/// Walks through a text that is known to be valid JSON, and through its tree at the same time.
class Walk {
 public:
  Walk(std::string_view text, std::unordered_map<const bundle::Node*, Mark>& marks)
      : text_(text), marks_(marks) {}

  /// Marks the value behind the next blanks, which is `node`, and the values in it. Recursion is as
  /// deep as Document::kMaxDepth.
  void value(const bundle::Node& node) {
    skip_blanks();
    marks_[&node] = here_;
    if (node.is_object() || node.is_array()) {
      step();
      for (const bundle::Node* child = node.first; child != nullptr; child = child->next) {
        skip_blanks();
        if (node.is_object()) {
          string();
          skip_blanks();
          step();  // ":"
        }
        value(*child);
        skip_blanks();
        if (child->next != nullptr) step();  // ","
      }
      skip_blanks();
      step();
    } else if (node.is_string()) {
      string();
    } else {
      while (at_ < text_.size() && !std::string_view(" \t\r\n,]}").contains(text_[at_])) step();
    }
  }

 private:
  void step() {
    if (at_ == text_.size()) return;
    const auto byte = static_cast<unsigned char>(text_[at_++]);
    if (byte == '\n') {
      ++here_.line;
      here_.column = 1;
    } else if ((byte & 0xC0) != 0x80) {  // columns count characters, not the bytes of UTF-8
      ++here_.column;
    }
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) step();
  }
  void string() {
    step();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') step();
      step();
    }
    step();
  }

  std::string_view text_;
  std::unordered_map<const bundle::Node*, Mark>& marks_;
  std::size_t at_ = 0;
  Mark here_{1, 1};
};

/// Finds the marks of all values of a JSON text. `root` is the tree that Document::parse() has made
/// of `text`.
void mark_json(std::string_view text, const bundle::Node& root,
               std::unordered_map<const bundle::Node*, Mark>& marks) {
  Walk(text, marks).value(root);
}

/// No text in JSON has a line break, so that a line of "---" is YAML's between two documents.
bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[') &&
         !text.contains("\n---");
}

constexpr std::string_view kByteOrderMark = "\uFEFF";

/// `text` without the byte order marks before its documents. Two files of Windows that were joined
/// have a mark before the second document too.
std::string without_byte_order_marks(std::string_view text) {
  std::string out;
  bool is_before_document = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    std::string_view rest = line;
    if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    const bool is_between = rest.starts_with("---") || rest.starts_with("...");
    if (is_before_document || is_between) line = rest;
    if (is_between) rest.remove_prefix(3);
    const std::size_t first = rest.find_first_not_of(" \t\r\n");
    const bool is_without_content = first == std::string_view::npos || rest[first] == '#';
    is_before_document = is_without_content && (is_before_document || is_between);
    out += line;
  }
  return out;
}

}  // namespace

bool Source::parse(std::string_view text, bundle::Report& report) {
  if (text.size() > kMostBytes) {
    report.problem(
        fmt::format("the document: {} bytes, at most {} are read", text.size(), kMostBytes));
    return false;
  }
  const bool has_mark = text.contains(kByteOrderMark);
  const std::string unmarked = has_mark ? without_byte_order_marks(text) : "";
  if (has_mark) text = unmarked;
  if (!is_json(text)) return parse_yaml(text, report);
  if (!document_.parse(text, report)) return false;
  roots_ = {document_.root()};
  mark_json(text, *document_.root(), marks_);
  return true;
}

Mark Source::mark(const bundle::Node* node) const {
  for (; node != nullptr; node = node->parent)
    if (const auto found = marks_.find(node); found != marks_.end()) return found->second;
  return {};
}

std::vector<std::string> Source::placed(const std::string& file,
                                        std::vector<std::string>& sentences,
                                        const std::vector<const bundle::Node*>& nodes) const {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {},
                    [&](std::size_t index) { return std::pair(mark(nodes[index]), index); });
  std::vector<std::string> out;
  for (const std::size_t index : order) {
    const Mark at = mark(nodes[index]);
    out.push_back(at.line == 0
                      ? fmt::format("{}: {}", file, sentences[index])
                      : fmt::format("{}:{}:{}: {}", file, at.line, at.column, sentences[index]));
  }
  return out;
}

std::vector<std::string> Source::problems(const std::string& file, bundle::Report& report) const {
  return placed(file, report.problems(), report.nodes_of_problems());
}

std::vector<std::string> Source::warnings(const std::string& file, bundle::Report& report) const {
  return placed(file, report.warnings(), report.nodes_of_warnings());
}

std::vector<std::string> Source::warnings(
    const std::string& file, bundle::Report& report,
    const std::function<bool(const bundle::Node*)>& wanted) const {
  std::vector<std::string> sentences;
  std::vector<const bundle::Node*> nodes;
  for (std::size_t i = 0; i < report.warnings().size(); ++i) {
    const bundle::Node* node = report.nodes_of_warnings()[i];
    if (!wanted(node)) continue;
    sentences.push_back(report.warnings()[i]);
    nodes.push_back(node);
  }
  return placed(file, sentences, nodes);
}

}  // namespace ocirun::pods
