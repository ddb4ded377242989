// The start of the C library, in the place of glibc's own __libc_start_main().
//
// glibc's start asks the processor for its features and caches, with 68 CPUID instructions on an
// Intel processor. In a virtual machine each of them is an exit to the hypervisor, which takes ten
// microseconds or more: more than all else that a short command of ocirun does in user mode. With
// the answers glibc chooses the variants of its string and mathematical functions. Without answers
// it chooses the variants that every x86-64 processor has.
//
// start() takes the steps of glibc 2.36 in their order. It leaves out four things. The first is the
// questions to the processor, and _dl_hwcap and _dl_platform, which are made of the answers: only
// the loader of shared libraries reads these two. The second is _dl_debug_initialize(), which tells
// a debugger about shared libraries. The third is the setjmp(3) around main(), to which
// pthread_exit(3) of the main thread would return: ocirun does not call pthread_exit(3). The fourth
// is the relocations between __rela_iplt_start and __rela_iplt_end, of which a static-pie has none:
// relocate_program() makes all of its relocations.
//
// CMake links this file only with a libc.a whose libc-start.o refers to the symbols to which that
// of glibc 2.36 refers. A program with another C library keeps the start of that library.
//
// Until start() has set the canary, no function here may check a canary (CMake turns the stack
// protector off for this file).
#include <elf.h>
#include <features.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

static_assert(__GLIBC__ == 2 && __GLIBC_MINOR__ == 36);

namespace {

using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);
using Destructor = void (*)();

}  // namespace

// Functions and variables of glibc and of the linker that have no header.
extern "C" {
extern void* stack_end asm("__libc_stack_end");
extern int is_privileged asm("__libc_enable_secure");
void call_at_exit(void (*function)(void*), void* argument, void* library) asm("__cxa_atexit");
#pragma GCC visibility push(hidden)
extern Constructor preinit_begin[] asm("__preinit_array_start");
extern Constructor preinit_end[] asm("__preinit_array_end");
extern Constructor constructors_begin[] asm("__init_array_start");
extern Constructor constructors_end[] asm("__init_array_end");
extern Destructor destructors_begin[] asm("__fini_array_start");
extern Destructor destructors_end[] asm("__fini_array_end");
extern const std::uintptr_t* random_bytes asm("_dl_random");
void read_auxiliary_vector(const ElfW(auxv_t) * vector) asm("_dl_aux_init");
void read_tunables(char** environment) asm("__tunables_init");
void relocate_program() asm("_dl_relocate_static_pie");
void set_up_thread() asm("__libc_setup_tls");
void initialize_threads(bool is_first) asm("__libc_early_init");
void initialize_libc(int argc, char** argv, char** environment) asm("__libc_init_first");
void check_standard_streams() asm("__libc_check_standard_fds");
void run_init_section() asm("_init");
void run_fini_section() asm("_fini");
#pragma GCC visibility pop

// Sizes in bytes that memcpy(3) and memset(3) read. glibc computes them from the sizes of the
// caches. These are the values that glibc has for an unknown processor.
long data_cache_size asm("__x86_data_cache_size") = 32 * 1024;
long data_cache_size_half asm("__x86_data_cache_size_half") = 32 * 1024 / 2;
long shared_cache_size asm("__x86_shared_cache_size") = 1024 * 1024;
long shared_cache_size_half asm("__x86_shared_cache_size_half") = 1024 * 1024 / 2;
long non_temporal_threshold asm("__x86_shared_non_temporal_threshold") = 1024 * 1024 * 3 / 4;
long rep_movsb_threshold asm("__x86_rep_movsb_threshold") = 2048;
long rep_movsb_stop_threshold asm("__x86_rep_movsb_stop_threshold") = 1024 * 1024 * 3 / 4;
long rep_stosb_threshold asm("__x86_rep_stosb_threshold") = 2048;
int string_control asm("__x86_string_control") = 0;
}

namespace {

constexpr int kCanaryOffset = 0x28;        // of the thread's header, the base of the register fs
constexpr int kPointerGuardOffset = 0x30;  // what setjmp(3) and atexit(3) hide pointers with

void write_to_thread(int offset, std::uintptr_t value) {
  asm volatile("mov %0, %%fs:(%1)" : : "r"(value), "r"(static_cast<long>(offset)) : "memory");
}

// The canary's lowest byte is a NUL, which ends a string that would be copied over the canary.
void protect_thread() {
  write_to_thread(kCanaryOffset, random_bytes[0] & ~std::uintptr_t{0xff});
  write_to_thread(kPointerGuardOffset, random_bytes[1]);
}

void run(Constructor* next, const Constructor* end, int argc, char** argv) {
  for (; next != end; ++next) (*next)(argc, argv, environ);
}

void destroy(void*) {
  for (Destructor* next = destructors_end; next != destructors_begin;) (*--next)();
  run_fini_section();
}

}  // namespace

// Called by _start. `stack` is the initial stack of the process: argv, NULL, environment, NULL,
// auxiliary vector. The parameters without a name are two functions that glibc has not called since
// 2.34, and the loader's function for the exit, which a static program does not have.
extern "C" [[noreturn, gnu::used]] void start(Main main, int argc, char** argv, void (*)(),
                                              void (*)(), void (*)(),
                                              void* stack) asm("__libc_start_main");

extern "C" void start(Main main, int argc, char** argv, void (*)(), void (*)(), void (*)(),
                      void* stack) {
  environ = argv + argc + 1;
  stack_end = stack;
  char** end = environ;
  while (*end != nullptr) ++end;
  read_auxiliary_vector(reinterpret_cast<const ElfW(auxv_t)*>(end + 1));
  read_tunables(environ);
  relocate_program();  // from here on tables of pointers can be read
  set_up_thread();
  protect_thread();
  initialize_threads(true);
  initialize_libc(argc, argv, environ);
  call_at_exit(destroy, nullptr, nullptr);
  if (is_privileged != 0) check_standard_streams();
  run(preinit_begin, preinit_end, argc, argv);
  run_init_section();
  run(constructors_begin, constructors_end, argc, argv);
  std::exit(main(argc, argv, environ));
}
