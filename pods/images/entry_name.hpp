#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// What the name of a layer's entry asks for (layer.md#whiteouts).
enum class NameKind : std::uint8_t {
  kRoot,      // the layer's root directory itself
  kFile,      // an entry of the file system
  kWhiteout,  // ".wh.NAME": hide NAME of the layers below
  kOpaque     // ".wh..wh..opq": hide everything that the layers below have in the directory
};

struct EntryName {
  NameKind kind = NameKind::kRoot;
  std::string parent;  // "a/b", "" for the root; components without ".", ".." and empty ones
  std::string name;    // of kFile; the hidden NAME of kWhiteout
  std::string path() const { return parent.empty() ? name : parent + "/" + name; }
};

/// Longest names, in bytes: the kernel has the same limits for one path and one component. And the
/// most components of a name, because each of them may become a directory.
struct NameLimits {
  std::size_t path = 4095;
  std::size_t component = 255;
  std::size_t depth = 255;
};

/// Reads a name as a tar archive has it: an absolute name is relative to the layer's root, "." and
/// empty components do not count. Errors: ".."; a name that is too long or too deep; a whiteout
/// that hides nothing, "." or ".."; ".wh." inside a path; the other names that AUFS reserved for
/// itself.
Result<EntryName> parse_entry_name(std::string_view text, const NameLimits& limits);

}  // namespace ocirun::pods
