// The input is a layer: a tar archive, plain or compressed. It is unpacked below a directory,
// beside which nothing may change; after an error the directory must be empty. Root is needed for
// owners and devices: an ordinary user only reaches the errors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "linux/files/directories.hpp"
#include "pods/images/unpack/libarchive.hpp"
#include "pods/images/unpack/unpack_layer.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/pods/images/text_stream.hpp"

using namespace ocirun;
using namespace ocirun::pods;
namespace fs = std::filesystem;

namespace {

struct Scene {
  Scene() {
    char name[] = "/tmp/ocirun-fuzz-layer-XXXXXX";
    fuzz::require(::mkdtemp(name) != nullptr);
    top = name;
    fs::create_directory(top / "root");
    std::ofstream(top / "secret") << "host";
    fuzz::require(::chmod((top / "secret").c_str(), 0600) == 0);
    root = UniqueFd(::open((top / "root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    fuzz::require(static_cast<bool>(root));
  }
  ~Scene() {
    ignore(linux::remove_content(root));
    std::error_code ignored;
    fs::remove_all(top, ignored);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void check_outside() const {
    struct stat info{};
    fuzz::require(::lstat((top / "secret").c_str(), &info) == 0);
    fuzz::require(S_ISREG(info.st_mode) && (info.st_mode & 07777) == 0600 && info.st_size == 4 &&
                  info.st_nlink == 1 && info.st_uid == ::geteuid());
    fuzz::require(std::distance(fs::directory_iterator(top), fs::directory_iterator()) == 2);
  }

  fs::path top;
  UniqueFd root;
};

/// The diff_id that the layer has, so that most inputs come to their end.
Digest diff_id_of(std::string_view bytes, std::uint64_t limit) {
  test::TextStream input(bytes);
  DecompressedStream plain(input, compression_of(bytes));
  HashingStream hashed(plain, Digest::Algorithm::kSha256, limit);
  ignore(drain(hashed));
  return hashed.finish();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  UnpackOptions options;
  options.limits.entries = 100;
  options.limits.bytes = 1 << 20;
  options.devices = DeviceNodes::kLeaveOut;
  LayerBlob layer;
  layer.file = "input";
  layer.digest = digest_of(bytes);
  layer.size = size;
  layer.diff_id = diff_id_of(bytes, options.limits.bytes);
  const Scene scene;
  test::TextStream stream(bytes);
  const auto unpacked = unpack_layer(stream, layer, scene.root, {}, options);
  scene.check_outside();
  if (!unpacked) fuzz::require(fs::is_empty(scene.top / "root"));
  if (unpacked) fuzz::require(unpacked->entries <= options.limits.entries);
  return 0;
}
