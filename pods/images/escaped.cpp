#include "pods/images/escaped.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {

std::string escaped(std::string_view text) {
  const std::string quoted = bundle::in_quotes(text);
  return quoted.ends_with('"') ? quoted.substr(1, quoted.size() - 2) : quoted.substr(1);
}

std::string in_list(std::vector<std::string> texts) {
  constexpr std::size_t kMostShown = 20;
  std::ranges::sort(texts);
  const bool is_cut = texts.size() > kMostShown;
  if (is_cut) texts.resize(kMostShown);
  for (std::string& text : texts) text = bundle::in_quotes(text);
  return fmt::format("{}{}", fmt::join(texts, ", "), is_cut ? ", …" : "");
}

}  // namespace ocirun::pods
