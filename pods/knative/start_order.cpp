// The order in which the containers of a Cloud Run service start.

#include <algorithm>

#include "pods/knative/service.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

/// "a, b, a": containers each of which starts after the next; "" if there is no such circle.
std::string find_circle(const Pod& pod) {
  std::map<std::string_view, const Container*> waiting;
  for (const Container& container : pod.containers) waiting.emplace(container.name, &container);
  const auto waits_for = [&](const Container& container) {
    return std::ranges::find_if(container.starts_after,
                                [&](const std::string& name) { return waiting.contains(name); });
  };
  // Takes out the containers that can start, again and again. A circle stays.
  for (std::size_t before = 0; before != waiting.size();) {
    before = waiting.size();
    std::erase_if(waiting, [&](const auto& entry) {
      return waits_for(*entry.second) == entry.second->starts_after.end();
    });
  }
  if (waiting.empty()) return "";
  std::vector<std::string_view> way{waiting.begin()->first};
  for (;;) {
    const std::string_view next = *waits_for(*waiting.at(way.back()));
    const auto begin = std::ranges::find(way, next);
    const bool is_closed = begin != way.end();
    if (is_closed) way.erase(way.begin(), begin);
    way.push_back(next);
    if (is_closed) return bundle::comma_list(way);
  }
}

/// The container `name`; nullptr after a problem of `at`.
Container* find_container(Value at, std::string_view name, Pod& pod) {
  const auto found = std::ranges::find(pod.containers, name, &Container::name);
  if (found != pod.containers.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Container& container : pod.containers) known.push_back(container.name);
  if (std::ranges::find(pod.init_containers, name, &Container::name) != pod.init_containers.end())
    at.problem("\"{}\" is an init container: it ends before any of the containers starts", name);
  else
    at.problem("there is no container \"{}\" (known: {})", name, bundle::comma_list(known));
  return nullptr;
}

/// `list` is in the text of the annotation `at`.
bool read_list(Value at, Value list, Container& container, Pod& pod) {
  if (!list.node().is_array()) {
    at.problem("\"{}\" must have a list of containers, not {}", container.name, found(list));
    return false;
  }
  for (const Value item : list) {
    if (!item.node().is_string()) {
      at.problem("\"{}\" must have a list of names, not of {}", container.name, found(item));
      return false;
    }
    const Container* before = find_container(at, item.node().text, pod);
    if (before == nullptr) return false;
    if (std::ranges::find(container.starts_after, before->name) == container.starts_after.end())
      container.starts_after.push_back(before->name);
  }
  return true;
}

}  // namespace

void read_start_order(Value at, Pod& pod) {
  bundle::Document document;
  bundle::Report report;
  std::string text;
  if (!string(at, text)) return;
  if (!document.parse(text, report))
    return at.problem("must be the text of a JSON object: {}", report.problems().front());
  if (!document.root()->is_object())
    return at.problem("must be the text of a JSON object of containers, not {}",
                      found(Value(*document.root(), report)));
  if (!report.ok()) return at.problem("{}", report.problems().front());
  for (const Value member : Value(*document.root(), report)) {
    Container* container = find_container(at, member.key(), pod);
    if (container == nullptr || !read_list(at, member, *container, pod)) return;
  }
  if (const std::string names = find_circle(pod); !names.empty())
    at.problem("none of a circle of containers can start first: {}", names);
}

}  // namespace ocirun::pods
