#include "linux/process/command_line.hpp"

#include <unistd.h>

#include <cstring>
#include <string_view>

namespace ocirun::linux {
namespace {

constexpr std::string_view kTitle = "ocirun: init";

char* end_of(char* text) { return text + std::strlen(text) + 1; }

}  // namespace

CommandLine::CommandLine(char* const argv[]) : words_(argv[0]) {
  if (words_ == nullptr) return;
  char* end = words_;
  for (char* const* word = argv; *word == end; ++word) end = end_of(*word);
  words_size_ = static_cast<std::size_t>(end - words_);
  for (char** entry = environ; entry != nullptr && *entry == end; ++entry) end = end_of(*entry);
  size_ = static_cast<std::size_t>(end - words_);
}

void CommandLine::forget() const {
  if (words_ == nullptr) return;
  ::explicit_bzero(words_, size_);
  kTitle.copy(words_, size_ - 1);
  // If the last byte of the words is not NUL, /proc/PID/cmdline ends with the first NUL, even
  // behind the words. Otherwise the file would have all zeros of the words.
  if (words_size_ > kTitle.size() + 1) words_[words_size_ - 1] = '.';
}

}  // namespace ocirun::linux
