#include "pods/images/layer.hpp"

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {

std::string shown_name(const LayerBlob& layer) {
  return layer.digest ? layer.digest->text() : bundle::in_quotes(layer.file);
}

namespace {

constexpr std::string_view kWhiteoutPrefix = ".wh.";
constexpr std::string_view kReservedPrefix = ".wh..wh.";
constexpr std::string_view kOpaqueName = ".wh..wh..opq";

}  // namespace

Result<EntryName> parse_entry_name(std::string_view text, const NameLimits& limits) {
  if (text.size() > limits.path)
    return refuse("its name has {} bytes, at most {} are allowed", text.size(), limits.path);
  if (text.find('\0') != std::string_view::npos) return refuse("its name contains NUL");
  EntryName out;
  std::size_t depth = 0;
  for (const std::string_view component : linux::words(text, '/')) {
    if (component == ".") continue;
    if (component == "..") return refuse("its name contains \"..\"");
    if (component.size() > limits.component)
      return refuse("a component of its name has {} bytes, at most {} are allowed",
                    component.size(), limits.component);
    if (++depth > limits.depth) return refuse("its name has more than {} components", limits.depth);
    if (out.name.starts_with(kWhiteoutPrefix))
      return refuse("a whiteout is no directory, its name can only be the last");
    if (!out.name.empty()) out.parent = out.path();
    out.name = component;
    out.kind = NameKind::kFile;
  }
  if (!out.name.starts_with(kWhiteoutPrefix)) return out;
  if (out.name == kOpaqueName) {
    out.kind = NameKind::kOpaque;
    out.name.clear();
    return out;
  }
  if (out.name.starts_with(kReservedPrefix))
    return refuse("its name is one that AUFS reserves for itself");
  const std::string hidden = out.name.substr(kWhiteoutPrefix.size());
  if (hidden.empty()) return refuse("a whiteout without a name hides nothing");
  if (hidden == "." || hidden == "..") return refuse("a whiteout cannot hide {:?}", hidden);
  out.kind = NameKind::kWhiteout;
  out.name = hidden;
  return out;
}

}  // namespace ocirun::pods
