#include "linux/process/command_line.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ocirun::linux {
namespace {

constexpr std::string_view kTitle = "ocirun: init";

// The kernel puts the environment right behind the words.
struct Caller {
  char* words = nullptr;
  std::size_t words_size = 0;  // with the last NUL
  std::size_t size = 0;        // of both
};
Caller caller;

char* end_of(char* text) { return text + std::strlen(text) + 1; }

}  // namespace

void remember_command_line(int argc, char** argv) {
  if (argc < 1) return;
  char* end = end_of(argv[argc - 1]);
  caller.words = argv[0];
  caller.words_size = static_cast<std::size_t>(end - argv[0]);
  for (char** entry = environ; entry != nullptr && *entry == end; ++entry) end = end_of(*entry);
  caller.size = static_cast<std::size_t>(end - argv[0]);
}

void forget_caller() {
  if (caller.words == nullptr) return;
  ::clearenv();
  ::explicit_bzero(caller.words, caller.size);
  kTitle.copy(caller.words, caller.size - 1);
  // If the last byte of the words is not NUL, /proc/PID/cmdline ends with the first NUL, even
  // behind the words. Otherwise the file would have all zeros of the words.
  if (caller.words_size > kTitle.size() + 1) caller.words[caller.words_size - 1] = '.';
}

}  // namespace ocirun::linux
