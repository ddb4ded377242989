#include "linux/sealed/executable.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr char kInside[] = "--run_test=sealed_exe/the_sealed_copy_of_this_program";

std::string link_of(const char* path) {
  char target[4096] = {};
  return ::readlink(path, target, sizeof target - 1) < 0 ? "" : target;
}

std::string parent_of(const std::string& path) { return std::filesystem::path(path).parent_path(); }

boost::test_tools::assertion_result is_the_copy(boost::unit_test::test_unit_id) {
  return std::getenv("OCIRUN_TEST_ORIGINAL") != nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sealed_exe)

// Runs only in the copy that the next test case makes of this program.
BOOST_AUTO_TEST_CASE(the_sealed_copy_of_this_program,
                     *boost::unit_test::precondition(is_the_copy)) {
  // Another program of the same name would not do: runc CVE-2019-5736 wrote through this link.
  BOOST_TEST(link_of("/proc/self/exe") == "/memfd:ocirun (deleted)");
  const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const int seals = ::fcntl(self.get(), F_GET_SEALS);
  const int wanted = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  BOOST_TEST((seals & wanted) == wanted);
  // Opening for writing, truncating, adding seals: all are refused for ever, to root too.
  BOOST_TEST(::open("/proc/self/exe", O_RDWR | O_CLOEXEC) == -1);
  BOOST_TEST(::ftruncate(self.get(), 0) == -1);
  BOOST_TEST(::fcntl(self.get(), F_ADD_SEALS, 0) == -1);

  const char* original = std::getenv("OCIRUN_TEST_ORIGINAL");
  BOOST_REQUIRE(original != nullptr);
  BOOST_TEST((slurp("/proc/self/exe") == slurp(original)));

  // No descriptor of the copy was inherited, but the caller's own open descriptor was.
  const char* kept = std::getenv("OCIRUN_TEST_DESCRIPTOR");
  BOOST_REQUIRE(kept != nullptr);
  BOOST_TEST(::fcntl(std::atoi(kept), F_GETFD) == 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::atoi(entry.path().filename().c_str());
    if (number != self.get())
      BOOST_TEST(link_of(entry.path().c_str()).find("memfd") == std::string::npos);
  }

  // A second call returns because it runs from the copy; otherwise it would execute copies without
  // end.
  auto& suite = boost::unit_test::framework::master_test_suite();
  BOOST_TEST(reexec_sealed(suite.argv).has_value());

  // The copy knows the directory of the original, whatever the caller's environment says, and does
  // not pass the variable to the programs that it executes.
  BOOST_TEST(executable_directory() == parent_of(original));
  BOOST_TEST(std::getenv("_OCIRUN_DIRECTORY") == nullptr);
}

BOOST_AUTO_TEST_CASE(a_program_goes_on_from_a_sealed_copy_with_its_arguments_and_environment) {
  const std::string original = link_of("/proc/self/exe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("_OCIRUN_DIRECTORY", "/evil", 1);
    ::setenv("OCIRUN_TEST_ORIGINAL", original.c_str(), 1);
    const int inherited = ::open("/dev/null", O_RDONLY);
    ::setenv("OCIRUN_TEST_DESCRIPTOR", std::to_string(inherited).c_str(), 1);
    std::string words[] = {original, kInside, "--log_level=error"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const auto failed = reexec_sealed(argv);
    BOOST_TEST_MESSAGE((failed ? "it returned" : failed.error().message()));
    ::_exit(98);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(pid, &status, 0) == pid);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

// ocirun executes its other programs from this directory, so the caller must not be able to choose
// it.
BOOST_AUTO_TEST_CASE(the_environment_does_not_say_where_the_executable_lies) {
  ::setenv("_OCIRUN_DIRECTORY", "/evil", 1);
  BOOST_TEST(executable_directory() == parent_of(link_of("/proc/self/exe")));
  ::unsetenv("_OCIRUN_DIRECTORY");
}

BOOST_AUTO_TEST_SUITE_END()
