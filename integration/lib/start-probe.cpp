// A static program with ocirun's start of libc (linux/start/libc_start.cpp). Prints what the start
// must have set up, a line each.
#include <sys/auxv.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr long kCanaryOffset = 0x28;
constexpr long kPointerGuardOffset = 0x30;

std::uintptr_t of_thread(long offset) {
  std::uintptr_t value;
  asm volatile("mov %%fs:(%1), %0" : "=r"(value) : "r"(offset));
  return value;
}

struct Global {
  std::string text = "constructed";
  ~Global() { std::puts("destroyed"); }
} global;

__attribute__((constructor)) void count_arguments(int argc, char**, char**) {
  std::printf("a constructor is told of %d arguments\n", argc);
}

// Whether the variant of memmove(3) that was chosen is right for each size and for overlapping
// areas.
bool moves_memory() {
  constexpr std::size_t kLargest = 3 << 20;  // more than every threshold of glibc
  std::string text(kLargest + 100, '\0');
  for (std::size_t size = 1; size <= kLargest; size = size * 3 + 1) {
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    std::memmove(text.data() + 7, text.data(), size);
    for (std::size_t i = 0; i < size; ++i)
      if (text[i + 7] != static_cast<char>(i * 31 + i / 251)) return false;
  }
  return true;
}

[[gnu::noinline]] void overflow(const char* text) {
  char small[8];
  auto* volatile end = small;
  while (*text != '\0') {
    *end = *text++;
    end = end + 1;
  }
  *end = '\0';
}

}  // namespace

int main(int argc, char** argv) {
  std::uintptr_t random[2];
  std::memcpy(random, reinterpret_cast<const void*>(getauxval(AT_RANDOM)), sizeof random);
  std::printf("canary %s\n",
              of_thread(kCanaryOffset) == (random[0] & ~std::uintptr_t{0xff}) ? "random" : "bad");
  std::printf("pointer guard %s\n", of_thread(kPointerGuardOffset) == random[1] ? "random" : "bad");
  std::printf("%s, %s, %s\n", argv[argc - 1], std::getenv("GREETING"), global.text.c_str());
  std::printf("page %lu, memory %s\n", getauxval(AT_PAGESZ), moves_memory() ? "moved" : "damaged");
  bool has_run = false;
  errno = 0;  // each thread has its own
  std::thread([&] {
    errno = EPERM;
    has_run = true;
  }).join();
  std::printf("thread %s\n", has_run && errno == 0 ? "joined" : "bad");
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception& error) {
    std::printf("exception %s, %.3f\n", error.what(), std::exp(std::strtod("1", nullptr)));
  }
  std::atexit([] { std::puts("at exit"); });
  std::fflush(stdout);
  if (argc > 2) overflow(argv[1]);
  // time(2) is an indirect function. The status shows that the result of main() arrives.
  return std::time(nullptr) > 0 ? 7 : 1;
}
