#include "pods/images/registry/other_places.hpp"

#include <string>
#include <vector>

#include "bundle/json/value.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::pods {
namespace {

using Kind = bundle::Node::Kind;

/// Whether skopeo takes `key` for "urls": Go folds the case of members, and the long s is an s.
bool is_urls(std::string_view key) {
  constexpr std::string_view kLongS = "\u017f";
  std::string folded;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool is_long_s = key.substr(i).starts_with(kLongS);
    if (is_long_s) ++i;
    folded += is_long_s ? 's' : linux::lower(key[i]);
  }
  return folded == "urls";
}

}  // namespace

Result<void> check_no_other_places(std::string_view what, std::string_view text) {
  bundle::Document document;
  bundle::Report report;
  std::vector<bundle::Value> open;
  if (document.parse(text, report)) open.emplace_back(*document.root(), report);
  while (!open.empty()) {
    const bundle::Value at = open.back();
    open.pop_back();
    const bool is_list = at.node().kind == Kind::kArray;
    if (!is_list && at.node().kind != Kind::kObject) continue;
    if (is_list && is_urls(at.key()) && at.begin() != at.end())
      at.problem(
          "names places beside the registry, which skopeo would ask from this machine's network: "
          "only what the registry itself sends is taken");
    for (const bundle::Value below : at) open.push_back(below);
  }
  if (report.ok()) return {};
  return refuse("{}: {}", what, report.first_problem());
}

}  // namespace ocirun::pods
