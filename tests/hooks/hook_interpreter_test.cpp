#include <elf.h>

#include <cstring>

#include "hooks/run_hook.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::hooks;
using namespace ocirun::test;

namespace {

/// The 64-bit ELF `program` with `loader` as its PT_INTERP.
std::string with_loader(std::string program, const std::string& loader) {
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry;
    char* const place = program.data() + header.e_phoff + i * sizeof(entry);
    std::memcpy(&entry, place, sizeof(entry));
    if (entry.p_type != PT_INTERP) continue;
    entry.p_offset = program.size();
    entry.p_filesz = loader.size() + 1;
    std::memcpy(place, &entry, sizeof(entry));
    break;
  }
  return program + loader + '\0';
}

/// The message of a hook that could not be executed.
std::string message_of(const std::string& path, std::string_view place) {
  Hook hook;
  hook.path = HostPath(path);
  return must_fail(
      run_hook(hook, "a hook", {.state = "{}", .directory = HostPath("/"), .place = place}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_interpreter_of_a_hook)

BOOST_AUTO_TEST_CASE(a_missing_one_is_named_with_where_it_is_missing) {
  const Scratch scratch;
  const std::string path = scratch.file("h", "#!/no/such/interpreter\n", 0755);
  const std::string sentence = "exec " + path + ": its interpreter /no/such/interpreter";
  for (const std::string place : {"on the host", "in the container"})
    BOOST_TEST(message_of(path, place) ==
               sentence + " does not exist " + place + ": no such file or directory");
  BOOST_TEST(message_of(path, "") == "exec " + path + ": no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_long_explanation_is_cut_off_before_the_reason) {
  const Scratch scratch;
  std::string loader;
  while (loader.size() < 2000) loader += "/xxx";
  const std::string path = scratch.file("h", with_loader(slurp("/bin/sh"), loader), 0755);
  const std::string text = message_of(path, "on the host");
  BOOST_TEST(text.starts_with("exec " + path + ": its loader /xxx"));
  BOOST_TEST(text.ends_with("x: no such file or directory"));
  BOOST_TEST(text.size() > 1000u);
  BOOST_TEST(text.size() < 1200u);
}

BOOST_AUTO_TEST_SUITE_END()
