#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ocirun::pods {

/// The mounts of a container by their paths, to find the mount that shows a path. A search looks up
/// each parent path once, and so stays fast with many mounts.
template <typename Mounted>
class MountedPlaces {
 public:
  /// The first mount at a path stays.
  void add(const std::string& destination, Mounted mounted) {
    places_.emplace(destination, std::move(mounted));
  }

  struct Found {
    const Mounted* mounted = nullptr;  // nullptr: the root filesystem shows the path
    std::size_t length = 0;            // of the path of the mount
  };
  /// The mount that shows the parent directory of `path`: the one at the nearest parent path.
  Found above(std::string_view path) const {
    while (path.size() > 1) {
      path = path.substr(0, path.rfind('/'));
      if (const auto place = places_.find(path); place != places_.end())
        return {&place->second, path.size()};
    }
    return {};
  }
  /// Whether a mount is at `path` or above it.
  bool covers(std::string_view path) const {
    return places_.contains(path) || above(path).mounted != nullptr;
  }
  /// The mount at `path`; nullptr: none.
  const Mounted* at(std::string_view path) const {
    const auto place = places_.find(path);
    return place == places_.end() ? nullptr : &place->second;
  }

 private:
  std::map<std::string, Mounted, std::less<>> places_;
};

}  // namespace ocirun::pods
