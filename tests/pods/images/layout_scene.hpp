#pragma once

#include <map>

#include "pods/images/layout.hpp"
#include "tests/must.hpp"
#include "tests/pods/images/tar_writer.hpp"
#include "tests/scratch.hpp"

namespace ocirun::test {

inline constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";
inline constexpr const char* kConfigType = "application/vnd.oci.image.config.v1+json";

/// Files of an image source, which can be written as a directory or as a tar archive.
class LayoutScene {
 public:
  LayoutScene() { files["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})"; }

  /// Adds a blob and returns its descriptor; `more` are further members of it.
  std::string blob(const std::string& content, const std::string& type,
                   const std::string& more = "") {
    const pods::Digest digest = pods::digest_of(content);
    files["blobs/sha256/" + digest.hex()] = content;
    return R"({"mediaType":")" + type + R"(","digest":")" + digest.text() + R"(","size":)" +
           std::to_string(content.size()) + (more.empty() ? "" : "," + more) + "}";
  }
  /// The blob of a descriptor that blob() gave.
  static std::string digest_in(const std::string& descriptor) {
    return descriptor.substr(descriptor.find("sha256:"), 71);
  }
  static std::string config(const std::vector<std::string>& tars,
                            const pods::Platform& platform = pods::Platform::host()) {
    std::string ids;
    for (const std::string& tar : tars)
      ids += (ids.empty() ? "\"" : ",\"") + pods::digest_of(tar).text() + "\"";
    return R"({"os":")" + platform.os + R"(","architecture":")" + platform.architecture +
           R"(","config":{"Cmd":["/a"]},"rootfs":{"type":"layers","diff_ids":[)" + ids + "]}}";
  }
  /// Adds an image of plain layers and returns the descriptor of its manifest.
  std::string image(const std::vector<std::string>& tars, const std::string& more = "",
                    const pods::Platform& platform = pods::Platform::host()) {
    std::string layers;
    for (const std::string& tar : tars)
      layers += (layers.empty() ? "" : ",") + blob(tar, "application/vnd.oci.image.layer.v1.tar");
    return blob(manifest(blob(config(tars, platform), kConfigType), layers), kManifestType, more);
  }
  static std::string manifest(const std::string& config, const std::string& layers) {
    return R"({"schemaVersion":2,"config":)" + config + R"(,"layers":[)" + layers + "]}";
  }
  static std::string index(const std::string& descriptors) {
    return R"({"schemaVersion":2,"manifests":[)" + descriptors + "]}";
  }
  static std::string named(const std::string& name) {
    return R"("annotations":{"org.opencontainers.image.ref.name":")" + name + "\"}";
  }
  static std::string platform(const pods::Platform& platform) {
    return R"("platform":{"os":")" + platform.os + R"(","architecture":")" + platform.architecture +
           (platform.variant.empty() ? "" : R"(","variant":")" + platform.variant) + "\"}";
  }
  void set_index(const std::string& descriptors) { files["index.json"] = index(descriptors); }

  std::string directory() const {
    const std::string top = scratch_ / "layout";
    std::filesystem::remove_all(top);
    for (const auto& [name, content] : files) {
      const std::filesystem::path path = top + "/" + name;
      std::filesystem::create_directories(path.parent_path());
      scratch_.file("layout/" + name, content);
    }
    return top;
  }
  std::string archive(pods::Compression compression = pods::Compression::kNone,
                      const std::vector<TarItem>& more = {}) const {
    std::vector<TarItem> items;
    for (const auto& [name, content] : files) items.push_back(file(name, content));
    items.insert(items.end(), more.begin(), more.end());
    return scratch_.file("layout.tar", tar_of(items, compression));
  }
  Result<pods::Image> find(const std::string& reference = "") const {
    return find_in(directory(), reference);
  }
  static Result<pods::Image> find_in(const std::string& path, const std::string& reference = "") {
    OCIRUN_TRY_ASSIGN(const auto source, pods::ImageSource::open(HostPath(path)));
    return source.find({.reference = reference});
  }
  const Scratch& scratch() const { return scratch_; }

  std::map<std::string, std::string> files;

 private:
  Scratch scratch_;
};

}  // namespace ocirun::test
