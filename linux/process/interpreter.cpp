#include "linux/process/interpreter.hpp"

#include <elf.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kHeadBytes = 256;                 // BINPRM_BUF_SIZE
constexpr std::size_t kProgramHeaderBytes = 64 * 1024;  // load_elf_phdrs()
constexpr int kMostScripts = 6;  // exec_binprm(): the interpreter of the sixth gets ELOOP
constexpr std::string_view kItself = "it";

constexpr Named<std::uint16_t> kMachines[] = {
    {"alpha", EM_ALPHA},     {"arm", EM_ARM},       {"aarch64", EM_AARCH64},
    {"i386", EM_386},        {"ia64", EM_IA_64},    {"loongarch64", EM_LOONGARCH},
    {"m68k", EM_68K},        {"mips", EM_MIPS},     {"parisc", EM_PARISC},
    {"ppc", EM_PPC},         {"ppc64", EM_PPC64},   {"riscv", EM_RISCV},
    {"s390x", EM_S390},      {"sh", EM_SH},         {"sparc", EM_SPARC},
    {"sparc64", EM_SPARCV9}, {"x86_64", EM_X86_64},
};

// Bytes beyond the end of the file are missing from the result.
Result<std::string> read_at(Fd file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t count =
        ::pread(file.value, bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EINVAL) return fail(errno, "read");
    if (count <= 0) break;  // EINVAL: the offset is larger than any file
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

// --- scripts ---

// As load_script(): a path that the end of the buffer might have cut off is not executed.
std::string interpreter_of_script(std::string_view head) {
  const std::size_t newline = head.find('\n');
  const bool is_whole = newline != std::string_view::npos || head.size() < kHeadBytes;
  std::string_view line = head.substr(0, newline).substr(2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = line.find_first_of(std::string_view(" \t\0", 3));
  if (end == std::string_view::npos && !is_whole) return {};
  return std::string(line.substr(0, end));
}

// --- ELF ---

// Reads numbers in the byte order of an ELF file. A number that does not lie inside `bytes` is 0.
struct Fields {
  std::string_view bytes;
  bool big_endian = false;

  std::uint64_t at(std::size_t offset, std::size_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = big_endian ? i : size - 1 - i;
      value = value << 8 | static_cast<unsigned char>(bytes[offset + place]);
    }
    return value;
  }
};

// The needed sizes and field offsets of the structs Elf32_… and Elf64_….
struct Layout {
  std::size_t word, phoff, phentsize, phnum, entry_bytes, p_offset, p_filesz;
};
constexpr Layout kLayout32{sizeof(Elf32_Off),
                           offsetof(Elf32_Ehdr, e_phoff),
                           offsetof(Elf32_Ehdr, e_phentsize),
                           offsetof(Elf32_Ehdr, e_phnum),
                           sizeof(Elf32_Phdr),
                           offsetof(Elf32_Phdr, p_offset),
                           offsetof(Elf32_Phdr, p_filesz)};
constexpr Layout kLayout64{sizeof(Elf64_Off),
                           offsetof(Elf64_Ehdr, e_phoff),
                           offsetof(Elf64_Ehdr, e_phentsize),
                           offsetof(Elf64_Ehdr, e_phnum),
                           sizeof(Elf64_Phdr),
                           offsetof(Elf64_Phdr, p_offset),
                           offsetof(Elf64_Phdr, p_filesz)};

std::string machine_name(std::uint16_t number, bool is_64, bool big_endian) {
  std::string name(name_of(kMachines, number));
  if (number == EM_RISCV) name += is_64 ? "64" : "32";
  if (number == EM_PPC64 && !big_endian) name += "le";
  return name.empty() ? fmt::format("machine {}", number) : name;
}

// An AUDIT_ARCH_ number is the ELF machine number with flags for the word size and byte order.
std::string own_machine() {
  const std::uint32_t native = ::seccomp_arch_native();
  return machine_name(static_cast<std::uint16_t>(native), (native & __AUDIT_ARCH_64BIT) != 0,
                      (native & __AUDIT_ARCH_LE) == 0);
}

Result<std::string> interpreter_of_elf(Fd file, const Fields& header, const Layout& layout) {
  const auto table_bytes =
      static_cast<std::size_t>(header.at(layout.phnum, 2) * layout.entry_bytes);
  if (header.at(layout.phentsize, 2) != layout.entry_bytes || table_bytes > kProgramHeaderBytes)
    return std::string();
  OCIRUN_TRY_ASSIGN(const std::string table,
                    read_at(file, header.at(layout.phoff, layout.word), table_bytes));
  for (std::size_t entry = 0; entry < table.size(); entry += layout.entry_bytes) {
    const Fields fields{table, header.big_endian};
    if (fields.at(entry, 4) != PT_INTERP) continue;
    const std::uint64_t wide_size = fields.at(entry + layout.p_filesz, layout.word);
    if (wide_size < 2 || wide_size > PATH_MAX) return std::string();
    const auto size = static_cast<std::size_t>(wide_size);
    OCIRUN_TRY_ASSIGN(const std::string path,
                      read_at(file, fields.at(entry + layout.p_offset, layout.word), size));
    const bool is_path = path.size() == size && path.back() == '\0';
    // A path with a newline is not shown: it could imitate another line of a log.
    return is_path && !path.contains('\n') ? path.substr(0, path.find('\0')) : std::string();
  }
  return std::string();
}

// --- explanations ---

// Any file may be at this path by now. O_NONBLOCK avoids the wait for the writer of a fifo, and
// O_NOCTTY a new controlling terminal.
Result<Program> look_at(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file,
                    sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(file));
  if (!S_ISREG(status.st_mode)) return fail(EACCES, "{}", path);
  return read_program(file);
}

// In a script that was written on Windows, the interpreter's name ends in an invisible carriage
// return.
std::string_view about_line_end(std::string_view interpreter) {
  return interpreter.ends_with('\r') ? " (its #! line ends in CR LF)" : "";
}

// `place` is "in the container" or "on the host".
std::string explain_elf(const Program& program, std::string_view subject, int number,
                        std::string_view place) {
  const bool is_own = program.machine == own_machine();
  if (number == ENOEXEC && is_own)
    return fmt::format("{} is an ELF file that this kernel does not execute", subject);
  if (number == ENOEXEC) return fmt::format("{} is a program for {}", subject, program.machine);
  const std::string& loader = program.interpreter;
  if (!loader.empty() && is_missing(look_at(loader)))
    return subject == kItself
               ? fmt::format("its loader {} does not exist {}", loader, place)
               : fmt::format("the loader {} of {} does not exist {}", loader, subject, place);
  if (is_own) return {};
  // For a foreign program the kernel does not look for the loader, but for the emulator that
  // binfmt_misc names.
  return fmt::format("{} is a program for {}, whose emulator does not exist {}", subject,
                     program.machine, place);
}

// Why the caller may not execute `path`. "" if the file does not tell, as where a security module
// refuses.
std::string explain_denial(const std::string& path, std::string_view place) {
  struct stat status{};
  if (::fstatat(AT_FDCWD, path.c_str(), &status, 0) != 0)
    return errno == EACCES
               ? fmt::format("lies in a directory without an x bit for user {}", ::geteuid())
               : "";
  if (S_ISDIR(status.st_mode)) return "is a directory, not a program";
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  struct statfs filesystem{};
  if (::statfs(path.c_str(), &filesystem) == 0 && (filesystem.f_flags & ST_NOEXEC) != 0)
    return "lies on a mount with the option noexec";
  const mode_t mode = status.st_mode & mode_t{07777};
  if ((mode & 0111) == 0111 || ::syscall(SYS_faccessat, AT_FDCWD, path.c_str(), X_OK) == 0 ||
      errno != EACCES)
    return {};
  return fmt::format("has no x bit for user {} (its mode is {:04o}: chmod +x{})", ::geteuid(), mode,
                     place == "in the container" ? " in the image or volume" : "");
}

std::string explain(const std::string& path, int number, std::string_view place) {
  std::string file = path;
  std::string subject(kItself);
  for (int scripts = 0; scripts <= kMostScripts; ++scripts) {
    if (number == EACCES) {
      const std::string denial = explain_denial(file, place);
      if (!denial.empty()) return fmt::format("{} {}", subject, denial);
    }
    const Result<Program> program = look_at(file);
    if (number == ENOENT && scripts > 0 && is_missing(program))
      return fmt::format("{} does not exist {}{}", subject, place, about_line_end(file));
    if (!program) return {};
    if (program->kind == Program::Kind::kElf && number != EACCES)
      return explain_elf(*program, subject, number, place);
    if (program->interpreter.empty()) {
      if (number != ENOEXEC) return {};
      return program->kind == Program::Kind::kScript
                 ? fmt::format(
                       "{} has no interpreter on its #! line, or one of more than 253 bytes",
                       subject)
                 : fmt::format(
                       "{} is neither a program for this machine nor a script with a #! line",
                       subject);
    }
    subject = scripts == 0 ? "its interpreter " + program->interpreter
                           : fmt::format("the interpreter {} of {}", program->interpreter, file);
    file = program->interpreter;
  }
  return {};
}

}  // namespace

Result<Program> read_program(Fd file) {
  OCIRUN_TRY_ASSIGN(const std::string head, read_at(file, 0, kHeadBytes));
  if (head.starts_with("#!"))
    return Program{.kind = Program::Kind::kScript, .interpreter = interpreter_of_script(head)};
  if (!head.starts_with(ELFMAG) || head.size() <= EI_DATA) return Program{};
  const bool is_64 = head[EI_CLASS] == ELFCLASS64;
  const Fields header{head, head[EI_DATA] == ELFDATA2MSB};
  OCIRUN_TRY_ASSIGN(std::string interpreter,
                    interpreter_of_elf(file, header, is_64 ? kLayout64 : kLayout32));
  const auto machine = static_cast<std::uint16_t>(header.at(offsetof(Elf64_Ehdr, e_machine), 2));
  return Program{.kind = Program::Kind::kElf,
                 .interpreter = std::move(interpreter),
                 .machine = machine_name(machine, is_64, header.big_endian)};
}

std::string explain_exec(const std::string& path, int number, std::string_view place) {
  if (place.empty() || (number != ENOENT && number != ENOEXEC && number != EACCES)) return {};
  const std::string text = explain(path, number, place);
  return text.empty() ? text : ": " + text;
}

}  // namespace ocirun::linux
