#include "pods/prepare/plan/expansion.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "linux/process/exec_limits.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

using linux::ExecLimits;

/// The element `index` of the list `member` of a container's document.
Place element_of(Place container, std::string_view member, std::size_t index) {
  const bundle::Node* list = container == nullptr ? nullptr : container->find(member);
  if (list == nullptr || !list->is_array()) return container;
  const bundle::Node* element = list->first;
  while (element != nullptr && index-- != 0) element = element->next;
  return element == nullptr ? list : element;
}

class Expander {
 public:
  Expander(const Pod& pod, const Container& container, const Bindings& bindings, Missing missing)
      : pod_(pod),
        container_(container),
        bindings_(bindings),
        secrets_{.bindings = bindings, .pod = pod},
        missing_(missing),
        place_(container.place) {}

  std::expected<Expansion, PlacedError> run() {
    if (auto done = expand_all(); !done) return std::unexpected(PlacedError{done.error(), place_});
    return std::move(out_);
  }

 private:
  Result<void> expand_all() {
    for (const auto& [name, value] : connection_variables(pod_, bindings_))
      OCIRUN_TRY(set(name, value));
    for (const EnvSource& source : container_.env_sources) OCIRUN_TRY(add_source(source));
    for (const EnvVariable& variable : container_.env) OCIRUN_TRY(add_variable(variable));
    place_ = container_.place;
    for (const auto& [name, value] : platform_variables(pod_, container_))
      OCIRUN_TRY(set(name, value));
    out_.cost = out_.named.cost();
    OCIRUN_TRY_ASSIGN(out_.command, words("command", container_.command));
    OCIRUN_TRY_ASSIGN(out_.args, words("args", container_.args));
    return {};
  }

  bool is_missing(const std::string& secret) const {
    return missing_ == Missing::kEmpty && !secrets_.have(secret);
  }

  Result<void> add_source(const EnvSource& source) {
    if (source.place != nullptr) place_ = source.place;
    if (is_missing(source.secret)) {
      lacks_values_ = true;
      return {};
    }
    auto known = values_.find(source.secret);
    if (known == values_.end()) {
      OCIRUN_TRY_ASSIGN(auto values, secrets_.variables(source));
      known = values_.emplace(source.secret, std::move(values)).first;
    }
    for (const auto& [key, value] : known->second) OCIRUN_TRY(set(source.prefix + key, value));
    return {};
  }

  Result<void> add_variable(const EnvVariable& variable) {
    place_ = variable.place != nullptr ? variable.place : container_.place;
    if (const auto* key = std::get_if<SecretKey>(&variable.value)) {
      if (is_missing(key->secret)) {
        lacks_values_ = true;
        return {};
      }
      OCIRUN_TRY_ASSIGN(const auto value, secrets_.variable(*key));
      return value ? set(variable.name, *value) : Result<void>();
    }
    const std::string& value = std::get<std::string>(variable.value);
    if (variable.is_literal) return set(variable.name, value);
    auto whole = expanded(value);
    if (!whole) return too_long(variable.name);
    return set(variable.name, *whole);
  }

  Result<void> set(const std::string& name, std::string_view value) {
    if (name.size() + 1 + value.size() > limits_.string) return too_long(name);
    out_.named.set(name, value);
    return check_sum(out_.named.cost());
  }

  Result<std::optional<std::vector<std::string>>> words(
      std::string_view member, const std::optional<std::vector<std::string>>& list) {
    if (!list) return std::nullopt;
    std::vector<std::string> all;
    for (const std::string& word : *list) {
      auto whole = expanded(word);
      out_.cost += whole ? ExecLimits::cost(whole->size()) : 0;
      auto fits = !whole ? refuse_string(fmt::format("word {} of {}", all.size(), member))
                         : check_sum(out_.cost);
      if (!fits) {
        place_ = element_of(container_.place, member, all.size());
        return std::unexpected(fits.error());
      }
      all.push_back(*std::move(whole));
    }
    return all;
  }

  Result<std::string> expanded(const std::string& text) const {
    if (has_references(pod_))
      return expand(text, out_.named.variables(), limits_.string,
                    lacks_values_ ? Unknown::kLeftOut : Unknown::kKept);
    if (text.size() > limits_.string) return fail(E2BIG, "too long");
    return text;
  }

  Result<void> too_long(std::string_view name) const {
    return refuse_string(fmt::format("the variable {}", name));
  }
  Result<void> refuse_string(const std::string& what) const {
    return refuse("{} would have more than {} bytes: execve(2) takes no longer string", what,
                  limits_.string);
  }
  Result<void> check_sum(std::size_t cost) const {
    if (cost <= limits_.all) return {};
    return refuse(
        "the arguments and variables would take more than {} bytes together: execve(2) takes a "
        "quarter of the limit on the stack (ulimit -s), and at most 6 MiB",
        limits_.all);
  }

  const Pod& pod_;
  const Container& container_;
  const Bindings& bindings_;
  Secrets secrets_;
  Missing missing_;
  bool lacks_values_ = false;  // the variables of a secret that was not given are missing
  Place place_;                // of the part that is expanded
  ExecLimits limits_ = ExecLimits::here();
  std::map<std::string, std::map<std::string, std::string>> values_;  // of whole secrets
  Expansion out_;
};

std::size_t size_of(const std::map<std::string, std::string>& texts) {
  std::size_t size = 0;
  for (const auto& [name, value] : texts) size += name.size() + value.size();
  return size;
}

}  // namespace

std::expected<Expansion, PlacedError> expand_container(const Pod& pod, const Container& container,
                                                       const Bindings& bindings, Missing missing) {
  return Expander(pod, container, bindings, missing).run();
}

std::vector<PlacedError> find_expansion_errors(const Pod& pod, const Bindings& bindings,
                                               Missing missing) {
  std::vector<PlacedError> errors;
  std::size_t copied = 0;
  const std::size_t annotations = size_of(bundle_annotations(pod));
  for (const Container* container : all_containers(pod)) {
    const auto expansion = expand_container(pod, *container, bindings, missing);
    if (!expansion) {
      errors.push_back(expansion.error());
      continue;
    }
    copied += expansion->cost + annotations + container->extra_groups.size() * sizeof(Gid);
    if (copied <= kMostCopied) continue;
    errors.push_back(
        {Error(0, fmt::format("the containers up to \"{}\" take more than {} MiB for arguments, "
                              "variables, groups and the pod's annotations in each",
                              container->name, kMostCopied >> 20)),
         container->place});
    break;
  }
  return errors;
}

}  // namespace ocirun::pods
