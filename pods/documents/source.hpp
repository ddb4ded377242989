#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"

namespace ocirun::pods {

/// The place of a value in its file. Lines and columns begin at 1. A column counts bytes in YAML,
/// and characters in JSON. Line 0: the place is not known.
struct Mark {
  unsigned line = 0;
  unsigned column = 0;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

/// The documents of a file of YAML 1.2 or JSON, and the line and column of each of their values.
/// The values have the types of YAML's core schema: `no` is a string. A number that YAML 1.1 reads
/// otherwise, such as `0755`, is a Node::Kind::kOther with its text.
class Source {
 public:
  /// The largest file, in bytes. The limit bounds the time and memory that a hostile file takes. A
  /// config map may have 1 MiB.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  /// Parses UTF-8 text; byte order marks before its documents do not count. Reads it as JSON if its
  /// first character is "{" or "[" and no line begins with "---", else as YAML. Reports bad syntax,
  /// and a name that occurs twice in one object, as Document::parse() does. In YAML, also reports
  /// anchors, aliases, tags, merge keys, and names that are no scalars. Returns whether the whole
  /// text was parsed; if not, roots() is empty.
  bool parse(std::string_view text, bundle::Report& report);

  /// The documents in their order, without YAML documents that have no value.
  const std::vector<const bundle::Node*>& roots() const { return roots_; }
  /// The first document; nullptr if there is none.
  const bundle::Node* root() const { return roots_.empty() ? nullptr : roots_.front(); }
  /// The place of a value. A value that was added later has the place of the nearest value around
  /// it.
  Mark mark(const bundle::Node* node) const;
  /// The owner of the values, for callers that add values.
  bundle::Document& document() { return document_; }

  /// The sentences of `report` with their places, in the order of the lines: "FILE:LINE:COLUMN:
  /// /pointer: sentence", or "FILE: sentence" without a place.
  std::vector<std::string> problems(const std::string& file, bundle::Report& report) const;
  std::vector<std::string> warnings(const std::string& file, bundle::Report& report) const;
  /// Only the warnings about the values that `wanted` accepts.
  std::vector<std::string> warnings(const std::string& file, bundle::Report& report,
                                    const std::function<bool(const bundle::Node*)>& wanted) const;

 private:
  friend class YamlBuilder;
  using Marks = std::unordered_map<const bundle::Node*, Mark>;

  bool parse_yaml(std::string_view text, bundle::Report& report);
  std::vector<std::string> placed(const std::string& file, std::vector<std::string>& sentences,
                                  const std::vector<const bundle::Node*>& nodes) const;

  bundle::Document document_;
  std::vector<const bundle::Node*> roots_;
  Marks marks_;
};

}  // namespace ocirun::pods
