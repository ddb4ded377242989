#include "linux/process/exec.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

/// Words and an environment as the kernel lays them out: one behind the other.
class Memory {
 public:
  Memory(std::vector<std::string> words, const std::vector<std::string>& environment) {
    for (const std::string& text : words) add(text);
    words_size_ = bytes_.size();
    for (const std::string& text : environment) add(text);
    char* next = bytes_.data();
    for (std::size_t i = 0; i < words.size() + environment.size(); ++i) {
      (i < words.size() ? argv_ : envp_).push_back(next);
      next += std::strlen(next) + 1;
    }
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  /// What /proc/PID/cmdline would show: fs/proc/base.c, get_mm_cmdline().
  std::string shown_words() const {
    const bool ends_with_nul = bytes_[words_size_ - 1] == '\0';
    return ends_with_nul ? std::string(bytes_.data(), words_size_) : std::string(bytes_.data());
  }
  std::string environment() const { return bytes_.substr(words_size_); }
  CommandLine command_line() {
    environ = envp_.data();
    return CommandLine(argv_.data());
  }

 private:
  void add(const std::string& text) { bytes_.append(text.c_str(), text.size() + 1); }

  std::string bytes_;
  std::size_t words_size_ = 0;
  std::vector<char*> argv_, envp_;
};

std::string up_to_nul(const std::string& text) { return text.c_str(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line)

OCIRUN_CHILD_TEST(words_and_environment_are_overwritten_whatever_their_length, 0) {
  for (std::size_t length = 0; length < 30; ++length) {
    Memory memory({std::string(length, 's')}, {"PASSWORD=secret", "TOKEN=secret"});
    memory.command_line().forget();
    BOOST_TEST_CONTEXT("a command line of " << length << " bytes") {
      BOOST_TEST(up_to_nul(memory.shown_words()) == "ocirun: init");
      BOOST_TEST(memory.shown_words().find('s') == std::string::npos);
      BOOST_TEST(memory.environment().find("secret") == std::string::npos);
      BOOST_TEST(std::getenv("PASSWORD") == nullptr);
    }
  }
}

OCIRUN_CHILD_TEST(a_process_may_forget_twice_and_without_an_environment, 0) {
  Memory memory({"run", "--env", "secret-word"}, {});
  const CommandLine command_line = memory.command_line();
  command_line.forget();
  command_line.forget();
  BOOST_TEST(memory.shown_words() == "ocirun: init");
  Memory tiny({""}, {});
  tiny.command_line().forget();
  BOOST_TEST(up_to_nul(tiny.shown_words()) == "");
}

OCIRUN_CHILD_TEST(nothing_is_overwritten_where_the_kernel_gave_no_words, 0) {
  ::setenv("KEPT", "1", 1);
  std::vector<char*> none{nullptr};
  CommandLine(none.data()).forget();
  CommandLine().forget();
  BOOST_TEST(std::getenv("KEPT") != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
