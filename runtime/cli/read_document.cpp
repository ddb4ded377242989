#include "runtime/cli/read_document.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "bundle/json/document.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime::cli {

std::optional<int> named_descriptor(const std::string& file) {
  if (file == "-" || file == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!file.starts_with(directory)) continue;
    const auto descriptor = linux::number<int>(std::string_view(file).substr(directory.size()));
    if (descriptor && *descriptor >= 0) return descriptor;
  }
  return std::nullopt;
}

namespace {

Result<std::string> read_whole(const std::string& file) {
  // The descriptor itself: a process that is not dumpable may not open its own /dev/fd/N.
  if (const auto descriptor = named_descriptor(file))
    return within(linux::sys::read_all(Fd{*descriptor}, bundle::Document::kMaxSize), file);
  TRY_ASSIGN(const UniqueFd opened,
             linux::sys::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return within(linux::sys::read_all(opened, bundle::Document::kMaxSize), file);
}

}  // namespace

Result<std::string> read_document(const std::string& file) {
  TRY_ASSIGN(std::string text, read_whole(file));
  if (text.empty()) return refuse("{} is empty", file == "-" ? "standard input" : file);
  return text;
}

}  // namespace ocirun::runtime::cli
