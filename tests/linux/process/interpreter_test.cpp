#include "linux/process/interpreter.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr std::string_view kLoader = "/no/such/ld.so";

/// A file of one program header, PT_INTERP, whose path follows it.
struct ElfFile {
  bool is_64 = true;
  bool big_endian = false;
  std::uint16_t machine = EM_X86_64;
  std::uint64_t phoff = 0;  // 0: right behind the header
  std::uint64_t phentsize = 0;
  std::uint64_t phnum = 1;
  std::uint64_t interp_offset = 0;
  std::uint64_t interp_size = 0;
  std::string interp = std::string(kLoader) + '\0';

  std::string bytes() const {
    const std::size_t word = is_64 ? 8 : 4;
    const std::size_t header = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const std::size_t entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    std::string text(header + entry, '\0');
    text.replace(0, SELFMAG, ELFMAG);
    text[EI_CLASS] = is_64 ? ELFCLASS64 : ELFCLASS32;
    text[EI_DATA] = big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    text[EI_VERSION] = EV_CURRENT;
    put(text, 16, 2, ET_EXEC);
    put(text, 18, 2, machine);
    put(text, is_64 ? 32 : 28, word, phoff != 0 ? phoff : header);
    put(text, is_64 ? 54 : 42, 2, phentsize != 0 ? phentsize : entry);
    put(text, is_64 ? 56 : 44, 2, phnum);
    put(text, header, 4, PT_INTERP);
    put(text, header + (is_64 ? 8 : 4), word, interp_offset != 0 ? interp_offset : text.size());
    put(text, header + (is_64 ? 32 : 16), word, interp_size != 0 ? interp_size : interp.size());
    return text + interp;
  }

 private:
  void put(std::string& text, std::size_t offset, std::size_t size, std::uint64_t value) const {
    for (std::size_t i = 0; i < size; ++i)
      text[offset + (big_endian ? size - 1 - i : i)] = static_cast<char>(value >> (8 * i));
  }
};

Program program_of(const Scratch& scratch, std::string_view text) {
  const std::string path = scratch.file("read", text);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return must(read_program(fd));
}

std::string interpreter_of(const Scratch& scratch, std::string_view text) {
  return program_of(scratch, text).interpreter;
}

/// What the kernel says of it: execve's errno, 0 for a program that ran.
int errno_of_exec(const std::string& path) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    char* const arguments[] = {const_cast<char*>(path.c_str()), nullptr};
    ::execve(path.c_str(), arguments, environ);
    ::_exit(errno);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The explanation of what the kernel itself says.
std::string explanation(const std::string& path, int number) {
  BOOST_TEST(errno_of_exec(path) == number);
  return explain_exec(path, number, "there");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interpreter)

BOOST_AUTO_TEST_CASE(the_path_on_the_first_line_is_read_as_the_kernel_reads_it) {
  const Scratch scratch;
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"#!/bin/x\n"sv, "#! \t/bin/x \t\n"sv, "#!/bin/x -u\tb\nmore"sv, "#!/bin/x"sv,
        "#!/bin/x -u"sv, "#!/bin/x\0y\n"sv})
    BOOST_TEST(interpreter_of(scratch, text) == "/bin/x");
  BOOST_TEST(interpreter_of(scratch, "#!/bin/x\r\n") == "/bin/x\r");
  BOOST_TEST(interpreter_of(scratch, "#!x\n") == "x");
  for (const std::string_view text : {"#!"sv, "#!\n/bin/x"sv, "#! \t \n"sv, "#!\0/bin/x\n"sv}) {
    const Program program = program_of(scratch, text);
    BOOST_TEST((program.kind == Program::Kind::kScript));
    BOOST_TEST(program.interpreter.empty());
  }
  for (const std::string_view text : {""sv, "#"sv, " #!/bin/x\n"sv, "\n#!/bin/x\n"sv, "\177EL"sv})
    BOOST_TEST((program_of(scratch, text).kind == Program::Kind::kOther));
}

// The kernel reads 256 bytes, and executes nothing that it may have cut off.
BOOST_AUTO_TEST_CASE(a_path_that_the_kernel_cuts_off_is_none) {
  const Scratch scratch;
  const std::string longest = "/" + std::string(252, 'x');
  BOOST_TEST(interpreter_of(scratch, "#!" + longest + "\n") == longest);
  BOOST_TEST(interpreter_of(scratch, "#!" + longest + " -u\n") == longest);
  BOOST_TEST(interpreter_of(scratch, "#!" + longest + "x\n").empty());
  BOOST_TEST(interpreter_of(scratch, "#!" + longest + "x").empty());
  BOOST_TEST(interpreter_of(scratch, "#!" + std::string(300, ' ') + "/x\n").empty());
  BOOST_TEST(interpreter_of(scratch, "#!/x " + std::string(300, 'y') + "\n") == "/x");
  BOOST_TEST(explanation(scratch.file("whole", "#!" + longest + "\n", 0755), ENOENT) ==
             ": its interpreter " + longest + " does not exist there");
  BOOST_TEST(explanation(scratch.file("cut", "#!" + longest + "x\n", 0755), ENOEXEC) ==
             ": it has no interpreter on its #! line, or one of more than 253 bytes");
}

BOOST_AUTO_TEST_CASE(the_loader_of_an_elf_file_of_each_class_and_byte_order_is_read) {
  const Scratch scratch;
  for (const bool is_64 : {false, true})
    for (const bool big_endian : {false, true}) {
      const ElfFile file{.is_64 = is_64, .big_endian = big_endian};
      const Program program = program_of(scratch, file.bytes());
      BOOST_TEST((program.kind == Program::Kind::kElf));
      BOOST_TEST(program.interpreter == kLoader);
      BOOST_TEST(program.machine == "x86_64");
    }
  BOOST_TEST(program_of(scratch, slurp("/bin/sh")).interpreter.starts_with("/lib"));
}

BOOST_AUTO_TEST_CASE(a_machine_has_a_name_or_its_number) {
  const Scratch scratch;
  const auto machine = [&](ElfFile file) { return program_of(scratch, file.bytes()).machine; };
  BOOST_TEST(machine({.machine = EM_AARCH64}) == "aarch64");
  BOOST_TEST(machine({.is_64 = false, .machine = EM_386}) == "i386");
  BOOST_TEST(machine({.is_64 = false, .machine = EM_ARM}) == "arm");
  BOOST_TEST(machine({.big_endian = true, .machine = EM_S390}) == "s390x");
  BOOST_TEST(machine({.machine = EM_PPC64}) == "ppc64le");
  BOOST_TEST(machine({.big_endian = true, .machine = EM_PPC64}) == "ppc64");
  BOOST_TEST(machine({.machine = EM_RISCV}) == "riscv64");
  BOOST_TEST(machine({.is_64 = false, .machine = EM_RISCV}) == "riscv32");
  BOOST_TEST(machine({.machine = 0x1234}) == "machine 4660");
}

BOOST_AUTO_TEST_CASE(a_hostile_elf_file_has_no_loader) {
  const Scratch scratch;
  const auto loader = [&](const ElfFile& file) { return interpreter_of(scratch, file.bytes()); };
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  for (const bool is_64 : {false, true}) {
    for (const std::uint64_t offset : {kHuge, kHuge >> 1, kHuge - 55, std::uint64_t{1} << 31}) {
      BOOST_TEST(loader({.is_64 = is_64, .phoff = offset}).empty());
      BOOST_TEST(loader({.is_64 = is_64, .interp_offset = offset}).empty());
    }
    for (const std::uint64_t size :
         {std::uint64_t{1}, std::uint64_t{PATH_MAX + 1}, kHuge, kHuge >> 1})
      BOOST_TEST(loader({.is_64 = is_64, .interp_size = size}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .phentsize = 1}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .phentsize = 0xFFFF}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .phnum = 0}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .phnum = 0xFFFF}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .interp = ""}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .interp = std::string(2, '\0')}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .interp = "/no/nul"}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .interp_size = 200}).empty());  // more than there is
    BOOST_TEST(loader({.is_64 = is_64, .interp = std::string(PATH_MAX, 'x') + '\0'}).empty());
    BOOST_TEST(loader({.is_64 = is_64, .interp = std::string("/a\0b\0", 5)}) == "/a");
    // Cut off anywhere, a file has no loader, or the whole of it.
    const std::string whole = ElfFile{.is_64 = is_64}.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size)
      BOOST_TEST(interpreter_of(scratch, whole.substr(0, size)).empty());
  }
  const std::string of_ones = std::string(ELFMAG) + std::string(500, '\xFF');
  BOOST_TEST(interpreter_of(scratch, of_ones).empty());
}

BOOST_AUTO_TEST_CASE(a_missing_interpreter_is_named) {
  const Scratch scratch;
  const Descriptors before = open_descriptors();
  BOOST_TEST(explanation(scratch.file("s", "#!/no/such/python3 -u\n", 0755), ENOENT) ==
             ": its interpreter /no/such/python3 does not exist there");
  BOOST_TEST(explanation(scratch.file("windows", "#!/bin/sh\r\n", 0755), ENOENT) ==
             ": its interpreter /bin/sh\r does not exist there (its #! line ends in CR LF)");
  BOOST_REQUIRE(::symlink("/no/such/file", (scratch / "dangling").c_str()) == 0);
  BOOST_TEST(explanation(scratch.file("t", "#!" + scratch / "dangling\n", 0755), ENOENT) ==
             ": its interpreter " + scratch / "dangling" + " does not exist there");
  BOOST_TEST(open_descriptors() == before);
}

#if defined(__x86_64__)
BOOST_AUTO_TEST_CASE(a_missing_loader_is_named) {
  const Scratch scratch;
  const std::string elf = scratch.file("elf", ElfFile{}.bytes(), 0755);
  BOOST_TEST(explanation(elf, ENOENT) == ": its loader /no/such/ld.so does not exist there");
  BOOST_TEST(explanation(scratch.file("s", "#!" + elf + "\n", 0755), ENOENT) ==
             ": the loader /no/such/ld.so of its interpreter " + elf + " does not exist there");
}

BOOST_AUTO_TEST_CASE(a_program_for_another_machine_is_told_as_that) {
  const Scratch scratch;
  const std::string elf =
      scratch.file("elf", ElfFile{.machine = EM_SPARCV9, .interp = {}}.bytes(), 0755);
  BOOST_TEST(explanation(elf, ENOEXEC) == ": it is a program for sparc64");
  BOOST_TEST(explanation(scratch.file("s", "#!" + elf + "\n", 0755), ENOEXEC) ==
             ": its interpreter " + elf + " is a program for sparc64");
  // ENOENT, as if binfmt_misc named an emulator that does not exist.
  BOOST_TEST(explain_exec(elf, ENOENT, "there") ==
             ": it is a program for sparc64, whose emulator does not exist there");
  const std::string damaged = scratch.file("damaged", ElfFile{.phnum = 0}.bytes(), 0755);
  BOOST_TEST(explanation(damaged, ENOEXEC) ==
             ": it is an ELF file that this kernel does not execute");
}
#endif

BOOST_AUTO_TEST_CASE(what_is_neither_a_program_nor_a_script_is_told_as_that) {
  const Scratch scratch;
  const std::string_view neither =
      " is neither a program for this machine nor a script with a #! line";
  const std::string text = scratch.file("text", "echo fine\n", 0755);
  BOOST_TEST(explanation(text, ENOEXEC) == ": it" + std::string(neither));
  BOOST_TEST(explanation(scratch.file("empty", "", 0755), ENOEXEC) ==
             ": it" + std::string(neither));
  BOOST_TEST(explanation(scratch.file("s", "#!" + text + "\n", 0755), ENOEXEC) ==
             ": its interpreter " + text + std::string(neither));
}

BOOST_AUTO_TEST_CASE(scripts_are_followed_as_far_as_the_kernel_follows_them) {
  const Scratch scratch;
  std::string interpreter = "/no/such/program";
  for (int scripts = 1; scripts <= 6; ++scripts) {
    const std::string path =
        scratch.file("script" + std::to_string(scripts), "#!" + interpreter + "\n", 0755);
    const std::string text = explanation(path, ENOENT);
    BOOST_TEST(text == (scripts == 1 ? ": its interpreter /no/such/program does not exist there"
                                     : ": the interpreter /no/such/program of " +
                                           scratch / "script1" + " does not exist there"));
    interpreter = path;
  }
  BOOST_TEST(explanation(scratch.file("more", "#!" + interpreter + "\n", 0755), ELOOP).empty());
  const std::string itself = scratch / "itself";
  BOOST_TEST(explanation(scratch.file("itself", "#!" + itself + "\n", 0755), ELOOP).empty());
  BOOST_TEST(explain_exec(itself, ENOENT, "there").empty());
}

BOOST_AUTO_TEST_CASE(why_a_file_may_not_be_executed_is_told) {
  const Scratch scratch;
  const std::string plain = scratch.file("plain", "#!/bin/sh\n", 0640);
  const std::string bit =
      fmt::format(" has no x bit for user {} (its mode is 0640: chmod +x", ::geteuid());
  BOOST_TEST(explanation(plain, EACCES) == ": it" + bit + ")");
  BOOST_TEST(explain_exec(plain, EACCES, "in the container") ==
             ": it" + bit + " in the image or volume)");
  const std::string script = scratch.file("s", "#!" + plain + "\n", 0755);
  BOOST_TEST(explanation(script, EACCES) == ": its interpreter " + plain + bit + ")");
  BOOST_TEST(explanation(scratch.file("o", "#!" + script + "\n", 0755), EACCES) ==
             ": the interpreter " + plain + " of " + script + bit + ")");
  BOOST_TEST(explanation(scratch.path(), EACCES) == ": it is a directory, not a program");
  BOOST_REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0755) == 0);
  BOOST_TEST(explanation(scratch / "fifo", EACCES) == ": it is no regular file");
}

BOOST_AUTO_TEST_CASE(what_explains_nothing_says_nothing) {
  const Scratch scratch;
  BOOST_TEST(explanation(scratch / "missing", ENOENT).empty());
  const std::string script = scratch.file("s", "#!/no/such/python3\n", 0755);
  BOOST_TEST(explain_exec("/bin/sh", EACCES, "there").empty());  // as if a security module refused
  for (const int number : {EACCES, EPERM, E2BIG, ELIBBAD})
    BOOST_TEST(explain_exec(script, number, "there").empty());
  BOOST_TEST(explain_exec(script, ENOENT, "").empty());
  BOOST_TEST(explain_exec(scratch.script("fine", "exit 0"), ENOENT, "there").empty());
  BOOST_TEST(explain_exec(scratch.path(), ENOEXEC, "there").empty());
}

// A fifo has no writer: an open that waits would wait for ever.
BOOST_AUTO_TEST_CASE(nobody_waits_for_what_has_taken_the_files_place) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0755) == 0);
  const std::string script = scratch.file("s", "#!" + scratch / "fifo\n", 0755);
  BOOST_TEST(seconds_of([&] {
               BOOST_TEST(explain_exec(scratch / "fifo", ENOENT, "there").empty());
               BOOST_TEST(explain_exec(script, ENOENT, "there").empty());
             }) < kHang);
}

BOOST_AUTO_TEST_CASE(a_file_that_may_not_be_read_is_not_explained, *needs_root()) {
  const Scratch scratch;
  const std::string script = scratch.file("s", "#!/no/such/python3\n", 0711);
  ::chmod(scratch.path().c_str(), 0755);
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
               BOOST_TEST(explain_exec(script, ENOENT, "there").empty());
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
