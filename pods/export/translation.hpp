#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pods/export/export.hpp"
#include "pods/export/yaml.hpp"

namespace ocirun::pods {

/// A workload on its way to another engine: what is asked for, and what is found on the way.
class Translation {
 public:
  explicit Translation(const ExportRequest& request);

  const ExportRequest& request() const { return *request_; }
  const Pod& pod() const { return request_->completed.pod(); }
  const Given& given() const { return request_->completed.given(); }
  YamlPart new_object() { return YamlPart::object(document_); }

  /// Notes something that the target cannot say: the member `member` of the value at `place`, such
  /// as "app/user", or the value itself for "". `place`: nullptr for something without a place in
  /// the document.
  template <typename... Args>
  void lose(Place place, std::string_view member, fmt::format_string<Args...> format,
            Args&&... args) {
    add_loss(place, member, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  /// Notes a label or an annotation that the target cannot have. It is a member `name` of some
  /// object of the document, or an item of a list that has the name.
  template <typename... Args>
  void lose_named(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
    add_named_loss(name, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  /// Puts a sentence in front of all others in the output.
  void introduce(std::string sentence) { introduction_ = std::move(sentence); }
  /// Notes what the target must have already, such as a secret. Each sentence is told once.
  void expect(std::string sentence);
  /// Adds a sentence for the person at the terminal.
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  /// Adds a document to the output.
  void add_document(const YamlPart& document) { documents_.push_back(document.node()); }

  /// A copy of a value of the document, without the parts that --ignore leaves out. The words y, n,
  /// yes, no, on and off without quotes are booleans where Kubernetes wants one.
  YamlPart copy_of(const bundle::Node& node);

  /// Whether the value is or has a part that nothing in the Pod says (Elsewhere::is_copied).
  bool has_copied_parts(Place place) const { return around_copied_.contains(place); }
  /// Copies the parts of `object` that nothing in the Pod says into `out`, which is the same object
  /// in the output. Leaves out parts in a list: who writes the items calls this for each item.
  void copy_parts(const bundle::Node& object, YamlPart& out);
  /// Notes a loss for each part that nothing in the Pod says and that was not copied.
  void lose_parts_without_copy();

  /// The output. Errors: something was lost, and the request is not lossy.
  Result<Exported> finish();

 private:
  void add_loss(Place place, std::string_view member, std::string sentence);
  void add_named_loss(std::string_view name, std::string sentence);
  bundle::Node* copy(const bundle::Node& node);

  const ExportRequest* request_;
  std::set<Place> left_out_;                 // by --ignore
  std::set<Place> to_copy_, around_copied_;  // is_copied: not yet copied; all, with what is around
  bundle::Document document_;
  std::vector<const bundle::Node*> documents_;
  std::string introduction_;
  std::vector<std::string> losses_, expected_, notes_;
};

/// The documents of the file that --ignore does not leave out.
std::vector<Place> documents_to_copy(const Workload& workload);
/// Removes what a cluster has set in a document: its status, and members of its metadata.
void remove_members_of_cluster(YamlPart& document);

}  // namespace ocirun::pods
