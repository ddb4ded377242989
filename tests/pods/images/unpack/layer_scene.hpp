#pragma once

#include <sys/stat.h>
#include <sys/xattr.h>

#include "pods/images/unpack/unpack_layer.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/pods/images/tar_writer.hpp"
#include "tests/scratch.hpp"

namespace ocirun::test {

inline pods::LayerBlob blob_of(std::string_view bytes, std::string_view tar) {
  pods::LayerBlob layer;
  layer.file = "layer.tar";
  layer.digest = pods::digest_of(bytes);
  layer.size = bytes.size();
  layer.diff_id = pods::digest_of(tar);
  return layer;
}

/// Unpacks layers into a scratch directory "root", beside a file "secret" of mode 0600.
class LayerScene {
 public:
  LayerScene() {
    ::mkdir(root().c_str(), 0700);
    scratch_.file("secret", "host", 0600);
  }
  std::string root() const { return scratch_ / "root"; }
  std::string operator/(std::string_view name) const { return root() + "/" + std::string(name); }

  Result<pods::UnpackedLayer> unpack_bytes(std::string_view tar) {
    return unpack_blob(tar, blob_of(tar, tar));
  }
  Result<pods::UnpackedLayer> unpack_blob(std::string_view bytes, const pods::LayerBlob& layer) {
    TextStream stream(bytes);
    const UniqueFd into(::open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd lower = lower_.open();
    return pods::unpack_layer(stream, layer, into, {lower, lower_names_}, options);
  }
  /// Unpacks a layer beneath the one that unpack() makes, on top of those that were put there
  /// before. It must be asked for before unpack().
  void put_below(const std::vector<TarItem>& items) {
    const std::string name = std::to_string(lower_names_.size());
    ::mkdir((lower_ / name).c_str(), 0700);
    const std::string tar = tar_of(items);
    TextStream stream(tar);
    const UniqueFd lower = lower_.open();
    const UniqueFd into(::open((lower_ / name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    must(pods::unpack_layer(stream, blob_of(tar, tar), into, {lower, lower_names_}, options));
    lower_names_.insert(lower_names_.begin(), name);
  }
  Result<pods::UnpackedLayer> unpack(const std::vector<TarItem>& items) {
    return unpack_bytes(tar_of(items));
  }
  /// Unpacks, and wants an error: nothing remains, and the secret is as before.
  std::string fails(const std::vector<TarItem>& items) { return failed(unpack(items)); }
  std::string failed(const Result<pods::UnpackedLayer>& result) {
    const std::string message = must_fail(result);
    BOOST_TEST(names().empty(), message);
    check_secret();
    return message;
  }
  void check_secret() const {
    BOOST_TEST(slurp(scratch_ / "secret") == "host");
    BOOST_TEST(mode_of(scratch_ / "secret") == 0600);
    struct stat info{};
    BOOST_TEST(::lstat((scratch_ / "secret").c_str(), &info) == 0);
    BOOST_TEST(info.st_nlink == 1u);
    BOOST_TEST(scratch_.names() == (std::vector<std::string>{"root", "secret"}));
  }
  std::vector<std::string> names(std::string_view below_root = ".") const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(*this / below_root))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  struct stat look(std::string_view name) const {
    struct stat info{};
    if (::lstat((*this / name).c_str(), &info) != 0) throw std::runtime_error(std::string(name));
    return info;
  }
  bool is_whiteout(std::string_view name) const {
    const struct stat info = look(name);
    return S_ISCHR(info.st_mode) && info.st_rdev == 0;
  }
  std::string xattr(std::string_view name, const char* attribute) const {
    char value[256];
    const ssize_t size = ::lgetxattr((*this / name).c_str(), attribute, value, sizeof value);
    return size < 0 ? "none" : std::string(value, static_cast<std::size_t>(size));
  }
  bool is_opaque(std::string_view name) const {
    return xattr(name, pods::attribute_name(options.mark)) == "y";
  }

  pods::UnpackOptions options;

 private:
  Scratch scratch_, lower_;
  std::vector<std::string> lower_names_;  // the nearest first
};

inline bool has(const std::string& text, std::string_view part) {
  const bool found = text.find(part) != std::string::npos;
  BOOST_CHECK_MESSAGE(found, text);
  return found;
}

}  // namespace ocirun::test
