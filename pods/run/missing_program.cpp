#include "pods/run/missing_program.hpp"

#include <algorithm>
#include <array>

#include "bundle/json/document.hpp"

namespace ocirun::pods {
namespace {

constexpr int kNotFound = 127, kNotExecutable = 126;

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// The lists that command lines are read from, as paths of at most two names.
using Path = std::array<std::string_view, 2>;
constexpr std::array kCommands{Path{"command"}, Path{"cmd"}, Path{"app", "exec"},
                               Path{"process", "args"}};
constexpr Path kArguments{"args"};

/// The first word of a list below a container; nullptr if there is none.
Place first_word(const bundle::Node& container, const Path& path) {
  const bundle::Node* list = container.find(path[0]);
  if (list != nullptr && !path[1].empty()) list = list->find(path[1]);
  if (list == nullptr || !list->is_array()) return nullptr;
  return list->first;
}

}  // namespace

// The words of runc, crun and ocirun, which differ in the case of the first letter.
std::optional<int> status_of_missing_program(std::string_view said) {
  const bool is_about_program = has(said, "exec: ") || has(said, "executable");
  if (!is_about_program) return std::nullopt;
  if (has(said, "not found") || has(said, "no such file or directory") ||
      has(said, "No such file or directory"))
    return kNotFound;
  if (has(said, "ermission denied") || has(said, "xec format error") || has(said, "s a directory"))
    return kNotExecutable;
  return std::nullopt;
}

Place place_of_program(const Container& container, std::string_view program) {
  if (container.place == nullptr || !container.place->is_object()) return container.image_place;
  for (const Path& path : kCommands)
    if (const Place word = first_word(*container.place, path)) return word;
  const Place word = first_word(*container.place, kArguments);
  return word != nullptr && word->text == program ? word : container.image_place;
}

}  // namespace ocirun::pods
