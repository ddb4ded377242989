#include "pods/documents/source.hpp"

namespace ocirun::pods {
namespace {

/// Walks through a text that is known to be valid JSON, and through its tree at the same time.
class Walk {
 public:
  Walk(std::string_view text, std::unordered_map<const bundle::Node*, Mark>& marks)
      : text_(text), marks_(marks) {}

  /// Stands at a value, behind blanks. Recursion is as deep as Document::kMaxDepth.
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

}  // namespace

void mark_json(std::string_view text, const bundle::Node& root,
               std::unordered_map<const bundle::Node*, Mark>& marks) {
  Walk(text, marks).value(root);
}

}  // namespace ocirun::pods
