// The input is a program: its first bytes build a directory tree with symlinks, the rest are paths
// to open. The walk by components must find the same files as openat2(2), and none outside of the
// root.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;
namespace fs = std::filesystem;

namespace {

constexpr std::array kWords{"a", "b", "c", "..", ".", "/", "a/b", "../..", "/c/..", "b/../a/c"};

class Program {
 public:
  Program(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool ended() const { return next_ >= size_; }
  std::uint8_t byte() { return ended() ? std::uint8_t{0} : data_[next_++]; }
  std::string path() {
    std::string path;
    for (int words = 1 + byte() % 3; words > 0; --words) {
      path += kWords[byte() % kWords.size()];
      if (words > 1) path += '/';
    }
    return path;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, next_ = 0;
};

struct Scene {
  Scene() {
    char name[] = "/tmp/ocirun-fuzz-XXXXXX";
    fuzz::require(::mkdtemp(name) != nullptr);
    top = name;
    fs::create_directories(top / "root");
    fs::create_directories(top / "a/b");  // outside of the root: an escape by "../a/b" finds it
  }
  ~Scene() {
    std::error_code ignored;
    fs::remove_all(top, ignored);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  fs::path top;
};

void build(Program& program, const fs::path& root) {
  for (int steps = program.byte() % 12; steps > 0; --steps) {
    const fs::path place = root / kWords[program.byte() % 3];
    const fs::path inner = program.byte() % 2 == 0 ? place : place / kWords[program.byte() % 3];
    std::error_code ignored;
    if (program.byte() % 2 == 0)
      fs::create_directory(inner, ignored);
    else
      fs::create_symlink(program.path(), inner, ignored);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 256) return 0;
  const Scene scene;
  Program program(data, size);
  build(program, scene.top / "root");
  const auto root = linux::SafeDir::open_root(HostPath(scene.top / "root"));
  fuzz::require(root.has_value());
  for (int names = 0; names < 8 && !program.ended(); ++names) {
    const RootfsPath path(program.path());
    const int flags = O_PATH | (program.byte() % 2 == 0 ? 0 : O_NOFOLLOW);
    const auto asked = root->open(path, flags);
    const auto walked = root->open_by_walk(path, flags);
    fuzz::require(asked.has_value() == walked.has_value());
    if (!asked) continue;
    const auto a = linux::sys::fstat(*asked), b = linux::sys::fstat(*walked);
    fuzz::require(a && b && a->st_ino == b->st_ino && a->st_dev == b->st_dev);
    const std::string place = fs::read_symlink("/proc/self/fd/" + std::to_string(asked->get()));
    fuzz::require(place.starts_with((scene.top / "root").string()));
  }
  return 0;
}
