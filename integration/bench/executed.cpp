// executed OFFSETS COMMAND…: runs the command, and prints the functions that processes of one
// executable execute, in the order of their first execution. OFFSETS is a file: the path of the
// executable, a static position-independent one, and the offsets of its functions, one each line,
// hexadecimal. Processes that run a copy of the executable count too. Each function has a
// breakpoint in each process, until the process executes the function for the first time.
#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

constexpr unsigned char kBreakpoint = 0xCC;  // int3
constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

struct Program {
  off_t size = 0;
  unsigned long entry = 0;
  std::unordered_map<unsigned long, unsigned char> functions;  // offset, first byte
};

std::string in_proc(int pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

Program read_program(const char* path) {
  Program program;
  std::ifstream list(path);
  std::string executable;
  std::getline(list, executable);
  const int file = open(executable.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  Elf64_Ehdr header{};
  if (fstat(file, &status) != 0 || read(file, &header, sizeof(header)) != sizeof(header)) {
    perror(executable.c_str());
    _exit(1);
  }
  program.size = status.st_size;
  program.entry = header.e_entry;
  for (unsigned long offset = 0; list >> std::hex >> offset;) program.functions[offset] = 0;
  return program;
}

// The address of the executable in the process, or 0 if the process runs another one.
unsigned long base_in(int pid, const Program& program) {
  struct stat status{};
  if (stat(in_proc(pid, "exe").c_str(), &status) != 0 || status.st_size != program.size) return 0;
  std::ifstream auxiliary(in_proc(pid, "auxv"), std::ios::binary);
  for (Elf64_auxv_t entry{}; auxiliary.read(reinterpret_cast<char*>(&entry), sizeof(entry));)
    if (entry.a_type == AT_ENTRY) return entry.a_un.a_val - program.entry;
  return 0;
}

void plant(int pid, unsigned long base, Program& program) {
  const int memory = open(in_proc(pid, "mem").c_str(), O_RDWR | O_CLOEXEC);
  for (auto& [offset, byte] : program.functions) {
    const off_t at = static_cast<off_t>(base + offset);
    unsigned char now = 0;
    if (pread(memory, &now, 1, at) != 1 || now == kBreakpoint) continue;
    byte = now;
    if (pwrite(memory, &kBreakpoint, 1, at) != 1) perror("plant");
  }
  close(memory);
}

// Whether the process stands behind a breakpoint, which is then removed.
bool pass(int pid, unsigned long base, const Program& program, unsigned long& offset) {
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, pid, 0, &registers);
  offset = registers.rip - 1 - base;
  const auto found = program.functions.find(offset);
  if (base == 0 || found == program.functions.end()) return false;
  const int memory = open(in_proc(pid, "mem").c_str(), O_RDWR | O_CLOEXEC);
  const bool is_restored =
      pwrite(memory, &found->second, 1, static_cast<off_t>(registers.rip - 1)) == 1;
  close(memory);
  --registers.rip;
  ptrace(PTRACE_SETREGS, pid, 0, &registers);
  return is_restored;
}

}  // namespace

int main(int, char** words) {
  Program program = read_program(words[1]);
  const pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execvp(words[2], words + 2);
    perror(words[2]);
    _exit(127);
  }
  int status = 0, result = 1;
  waitpid(first, &status, 0);
  ptrace(PTRACE_SETOPTIONS, first, 0, kOptions);
  ptrace(PTRACE_CONT, first, 0, 0);
  std::map<pid_t, unsigned long> bases;
  std::unordered_set<unsigned long> seen;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (pid == first) result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      bases.erase(pid);
      continue;
    }
    int signal = WSTOPSIG(status);
    const bool is_new = !bases.contains(pid);
    if (is_new) bases[pid] = base_in(pid, program);
    unsigned long offset = 0;
    if (status >> 16 == PTRACE_EVENT_EXEC) {
      bases[pid] = base_in(pid, program);
      if (bases[pid] != 0) plant(pid, bases[pid], program);
      signal = 0;
    } else if (status >> 16 != 0 || (is_new && signal == SIGSTOP)) {
      signal = 0;
    } else if (signal == SIGTRAP && pass(pid, bases[pid], program, offset)) {
      if (seen.insert(offset).second) printf("%lx\n", offset);
      signal = 0;
    }
    ptrace(PTRACE_CONT, pid, 0, signal);
  }
  return result;
}
