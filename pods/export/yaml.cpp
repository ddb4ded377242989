#include "pods/export/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using linux::is_alphanumeric;
using linux::is_letter;

using bundle::Node;

/// Words that are booleans or null for a reader of YAML 1.1.
bool is_reserved(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"y",   "n",    "yes",   "no",  "on",
                                                             "off", "true", "false", "null"};
  constexpr std::size_t kLongest = 5;
  if (text.size() > kLongest) return false;
  std::string lower(text);
  for (char& c : lower) c = linux::lower(c);
  return std::ranges::find(kWords, lower) != kWords.end();
}

/// Whether `text` means itself without quotes. Numbers, times and indicators of YAML do not begin
/// with a letter or a slash.
bool is_plain(std::string_view text) {
  if (text.empty() || is_reserved(text)) return false;
  if (!is_letter(text.front()) && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_inner =
        i + 1 < text.size() && (is_alphanumeric(text[i + 1]) || text[i + 1] == '/');
    if (is_alphanumeric(c) || std::string_view("_./@+-").contains(c)) continue;
    if ((c == ':' || c == ' ') && is_inner) continue;
    return false;
  }
  return true;
}

/// The number of bytes of the character at `at`, in valid UTF-8.
std::size_t size_of_character(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(size, text.size() - at);
}

/// Whether a YAML file may not have the character as it is: a control character, a line or
/// paragraph separator, a byte order mark, U+FFFE or U+FFFF.
bool must_be_escaped(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  if (character.size() == 2)
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return character == "\u2028" || character == "\u2029" || character == "\uFEFF" ||
         character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
  return (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, size_of_character(text, at));
    at += character.size();
    if (character == "\n")
      out += "\\n";
    else if (character == "\t")
      out += "\\t";
    else if (character == "\"" || character == "\\")
      out.append("\\").append(character);
    else if (must_be_escaped(character))
      out += fmt::format("\\u{:04x}", code_point(character));
    else
      out += character;
  }
  out += '"';
}

/// Whether a block that keeps line breaks can show `text`: several lines of characters that need no
/// escape, of which the first has a character other than a blank.
bool is_block(std::string_view text) {
  if (!text.contains('\n') || text.ends_with("\n\n") || text.front() == ' ' ||
      text.front() == '\n' || text.front() == '\t')
    return false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, size_of_character(text, at));
    at += character.size();
    if (character != "\n" && character != "\t" && must_be_escaped(character)) return false;
  }
  return true;
}

class YamlWriter {
 public:
  void value(const Node& node, std::size_t indent) {
    if (node.is_object() && node.first != nullptr) return members(node, indent);
    if (node.is_array() && node.first != nullptr) return items(node, indent);
    scalar(node, indent);
    out_ += '\n';
  }

  std::string take() { return std::move(out_); }

 private:
  void members(const Node& node, std::size_t indent) {
    for (const Node* member = node.first; member != nullptr; member = member->next) {
      if (member != node.first) out_.append(indent, ' ');
      if (is_plain(member->key) && member->key.find_first_of(": ") == std::string_view::npos)
        out_ += member->key;
      else
        append_quoted(out_, member->key);
      out_ += ':';
      below(*member, indent);
    }
  }

  void items(const Node& node, std::size_t indent) {
    for (const Node* item = node.first; item != nullptr; item = item->next) {
      if (item != node.first) out_.append(indent, ' ');
      out_ += "- ";
      value(*item, indent + 2);
    }
  }

  /// The value of a member, in the line of its key if it is a scalar.
  void below(const Node& member, std::size_t indent) {
    const bool has_parts = (member.is_object() || member.is_array()) && member.first != nullptr;
    if (has_parts)
      out_.append("\n").append(indent + 2, ' ');
    else
      out_ += ' ';
    value(member, indent + 2);
  }

  void scalar(const Node& node, std::size_t indent) {
    switch (node.kind) {
      case Node::Kind::kNull:
        out_ += "null";
        break;
      case Node::Kind::kBoolean:
        out_ += node.boolean ? "true" : "false";
        break;
      case Node::Kind::kNatural:
      case Node::Kind::kNegative:
      case Node::Kind::kOther:
        number(node);
        break;
      case Node::Kind::kString:
        text(node.text, indent);
        break;
      case Node::Kind::kArray:
        out_ += "[]";
        break;
      case Node::Kind::kObject:
        out_ += "{}";
        break;
    }
  }

  void number(const Node& node) {
    if (!node.text.empty())
      out_ += node.text;
    else if (node.kind == Node::Kind::kNegative)
      out_ += fmt::format("{}", static_cast<std::int64_t>(node.number));
    else
      out_ += fmt::format("{}", node.number);
  }

  void text(std::string_view text, std::size_t indent) {
    if (is_plain(text)) {
      out_ += text;
    } else if (is_block(text)) {
      out_ += text.ends_with('\n') ? "|" : "|-";
      if (text.ends_with('\n')) text.remove_suffix(1);
      for (const std::string_view line : linux::split(text, '\n'))
        out_.append("\n")
            .append(line.empty() ? 0 : std::max<std::size_t>(indent, 2), ' ')
            .append(line);
    } else {
      append_quoted(out_, text);
    }
  }

  std::string out_;
};

}  // namespace

std::string yaml_text(const Node& root) {
  YamlWriter writer;
  writer.value(root, 0);
  return writer.take();
}

void YamlPart::put(std::string_view name, Node* value) {
  value->parent = node_;
  value->key = document_->keep(name);
  value->next = nullptr;
  if (last_ == nullptr) last_ = node_->first;
  while (last_ != nullptr && last_->next != nullptr) last_ = last_->next;
  (last_ == nullptr ? node_->first : last_->next) = value;
  last_ = value;
}

void YamlPart::add(std::string_view name, std::string_view text) {
  put(name, bundle::Editor(*document_).text(text));
}
void YamlPart::add(std::string_view name, bool flag) {
  put(name, bundle::Editor(*document_).boolean(flag));
}
void YamlPart::add_number(std::string_view name, std::uint64_t number) {
  put(name, bundle::Editor(*document_).number(number));
}
void YamlPart::add_literal(std::string_view name, std::string_view text) {
  Node* node = document_->make(Node::Kind::kOther);
  node->text = document_->keep(text);
  put(name, node);
}
void YamlPart::add(std::string_view name, const std::vector<std::string>& texts) {
  YamlPart list = add_list(name);
  for (const std::string& text : texts) list.add("", text);
}

YamlPart YamlPart::add_object(std::string_view name) {
  const YamlPart part = new_object();
  add(name, part);
  return part;
}
YamlPart YamlPart::add_list(std::string_view name) {
  const YamlPart part = new_list();
  add(name, part);
  return part;
}

void YamlPart::change_texts(const std::function<std::string(std::string_view)>& change) {
  if (node_->is_string()) node_->text = document_->keep(change(node_->text));
  for (Node* child = node_->first; child != nullptr; child = child->next)
    YamlPart(*document_, child).change_texts(change);
}

YamlPart YamlPart::object_in(std::string_view name) {
  return {*document_, bundle::Editor(*document_).object_in(node_, name)};
}
YamlPart YamlPart::list_in(std::string_view name) {
  return {*document_, bundle::Editor(*document_).array_in(node_, name)};
}

}  // namespace ocirun::pods
