#pragma once

#include <criu.pb-c.h>

#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// CRIU's version as a number: 31701 for 3.17.1. Each part after the first has two digits.
constexpr int version_number(int major, int minor, int sublevel) {
  return (major * 100 + minor) * 100 + sublevel;
}
/// "3.17.1"; "3.11" where the last part is 0.
std::string version_text(int number);
/// The oldest criu that ocirun works with.
inline constexpr int kOldestCriu = version_number(3, 11, 0);

/// The options of a request, made from the words NAME=VALUE of the command line.
class CriuOptions {
 public:
  /// Errors: a word without "=", an unknown name, a value that the option does not allow. A NAME
  /// that takes a pair has the VALUE "KEY\nVALUE".
  static Result<CriuOptions> parse(std::span<const std::string_view> words);
  CriuOptions(CriuOptions&&) = default;
  CriuOptions& operator=(CriuOptions&&) = delete;

  /// The message. It points into this object, and lives as long.
  Criu__Options& message();

  /// Error: an option needs a newer criu than `version`. The error names the option and the version
  /// that has it.
  Result<void> check_version(int version) const;
  bool wants_lazy_pages() const { return message_.has_lazy_pages != 0 && message_.lazy_pages != 0; }
  bool wants_memory_tracking() const {
    return message_.has_track_mem != 0 && message_.track_mem != 0;
  }

 private:
  CriuOptions();
  friend struct OptionRow;
  Result<void> add(std::string_view word);

  // Lists, because their elements do not move: the message points to them.
  std::list<std::string> texts_;
  std::list<Criu__ExternalMount> mounts_;
  std::list<Criu__CgroupRoot> roots_;
  std::list<Criu__InheritedDescriptor> inherited_;
  std::list<Criu__JoinedNamespace> joined_;
  std::vector<char*> external_;
  std::vector<Criu__ExternalMount*> mount_list_;
  std::vector<Criu__CgroupRoot*> root_list_;
  std::vector<Criu__InheritedDescriptor*> inherited_list_;
  std::vector<Criu__JoinedNamespace*> joined_list_;
  std::list<Criu__PageServer> server_;
  Criu__Options message_;
  std::vector<std::pair<std::string_view, int>> wanted_versions_;
};

}  // namespace ocirun::linux
