# shellcheck disable=SC2016,SC2154 # variables of inner shells and of bats
# Each kind of memory is restored. What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_memory.bats
load lib/common
load lib/criu

setup() {
  common_setup
  needs_criu
  HUGE_PAGES=$(</proc/sys/vm/nr_hugepages)
}
teardown() {
  if [[ $(</proc/sys/vm/nr_hugepages) != "$HUGE_PAGES" ]]; then echo "$HUGE_PAGES" >/proc/sys/vm/nr_hugepages; fi
  common_teardown
}

# a_program_with_all_memory: a container whose program has two processes, a thread, shared and private memory with and without a file, a
# memfd, huge pages if the kernel has some, memory at a low and at a high address, and a ring of asynchronous input and output. Each step
# looks at the content.
a_program_with_all_memory() {
  with_python
  python "
import ctypes, mmap, threading
HUGE = $1
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def at(address, size, flags, fd=-1):
    found = libc.mmap(address, size, 3, flags, fd, 0)
    if found in (None, ctypes.c_void_p(-1).value): sys.exit('mmap: ' + os.strerror(ctypes.get_errno()))
    return (ctypes.c_char * size).from_address(found)
PRIVATE, SHARED, FIXED, ANONYMOUS, GROWSDOWN, HUGETLB = 2, 1, 0x10, 0x20, 0x100, 0x40000
with open('/tmp/file', 'wb') as file: file.write(bytes(8192))
file = os.open('/tmp/file', os.O_RDWR)
memfd = os.memfd_create('a memfd')
os.ftruncate(memfd, 8192)
kinds = [at(None, 8192, PRIVATE | ANONYMOUS), at(None, 8192, SHARED | ANONYMOUS), at(None, 8192, PRIVATE, file), at(None, 8192, SHARED, file),
         at(None, 8192, SHARED, memfd), at(None, 8192, PRIVATE, memfd), at(0x100000, 8192, PRIVATE | FIXED | ANONYMOUS),
         at(0x7FFF00000000, 8192, PRIVATE | FIXED | ANONYMOUS), at(None, 65536, PRIVATE | ANONYMOUS | GROWSDOWN)]
if HUGE: kinds += [at(None, 2 << 20, PRIVATE | ANONYMOUS | HUGETLB), at(None, 2 << 20, SHARED | ANONYMOUS | HUGETLB)]
if HUGE:
    huge = os.memfd_create('huge pages', 4)
    os.ftruncate(huge, 2 << 20)
    kinds.append(at(None, 2 << 20, SHARED, huge))
for number, kind in enumerate(kinds): kind[4096] = number + 1
if libc.syscall(206, 16, ctypes.byref(ctypes.c_ulong(0))): sys.exit('io_setup')
threading.Thread(target=lambda: time.sleep(100000), daemon=True).start()
if os.fork() == 0:
    while True:
        time.sleep(0.02)
        kinds[1][0] = kinds[1][4096]
def step(number):
    for number, kind in enumerate(kinds):
        if kind[4096] != bytes([number + 1]): sys.exit(f'memory {number} has other content')
    while kinds[1][0] != kinds[1][4096]: time.sleep(0.001)
    kinds[1][0] = 0
count()"
}

@test "memory of each kind is restored" {
  [[ $(uname -m) == x86_64 ]] || skip "the numbers of system calls are those of x86_64"
  a_program_with_all_memory False
  run_counting
  ocirun checkpoint "$ID"
  restore
  goes_on
  ocirun checkpoint "$ID"
  restore
  goes_on
}

@test "huge pages are restored" {
  [[ $(uname -m) == x86_64 ]] || skip "the numbers of system calls are those of x86_64"
  echo $((HUGE_PAGES + 8)) >/proc/sys/vm/nr_hugepages || skip "the caller may not reserve huge pages"
  a_program_with_all_memory True
  run_counting
  ocirun checkpoint "$ID"
  restore
  goes_on
}
