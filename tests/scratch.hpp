#pragma once

// A temporary directory for one test, and helpers for files, modes, children and waiting.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/unique_fd.hpp"

namespace ocirun::test {

/// A new directory below /tmp, of mode 0700. The destructor removes it with its content.
class Scratch {
 public:
  Scratch() {
    char path[] = "/tmp/ocirun-test-XXXXXX";
    if (::mkdtemp(path) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = path;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  UniqueFd open() const {
    return UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  /// Writes a file below the directory and returns its path.
  std::string file(std::string_view name, std::string_view text, mode_t mode = 0644) const {
    const std::string path = *this / name;
    {
      std::ofstream stream(path, std::ios::binary);
      stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    ::chmod(path.c_str(), mode);
    return path;
  }
  /// Writes an executable shell script and returns its path.
  std::string script(std::string_view name, std::string_view text) const {
    return file(name, "#!/bin/sh\n" + std::string(text) + "\n", 0755);
  }

 private:
  std::string path_;
};

inline std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The permission bits of a file, or -1.
inline int mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 07777) : -1;
}

/// The pids of this process's children, zombies too, separated by blanks: "" proves that a function
/// left no child behind.
inline std::string children_of_this_process() {
  return slurp("/proc/self/task/" + std::to_string(::getpid()) + "/children");
}

/// After this time a test takes an operation for hung. Longer than any operation takes on a busy
/// machine; shorter than kChildTimeoutSeconds and than the programs that tests leave running
/// (`sleep 987`).
inline constexpr int kHangSeconds = 40;
inline constexpr double kHang = kHangSeconds;

/// Polls `condition` every 10 ms for kHangSeconds. Returns whether it came true.
template <typename Condition>
bool comes_true(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kHangSeconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(10'000);
  }
  return true;
}

template <typename Callable>
double seconds_of(Callable&& callable) {
  const auto begin = std::chrono::steady_clock::now();
  callable();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace ocirun::test
