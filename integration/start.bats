# The start of the static program: linux/start/libc_start.cpp takes the place of glibc's.

load lib/common

setup() {
  [[ $(uname -m) == x86_64 && $OCIRUN == */release/* ]] || skip "the start is that of release builds for x86-64 (OCIRUN_FAST_START)"
  common_setup
  [[ -d $REPO/build/release/linux/CMakeFiles/ocirun_start.dir ]] || skip "this C library keeps its own start"
}

# build_probe: links $PROBE as CMake links ocirun, with the same object, unless an earlier test has done so.
build_probe() {
  PROBE=$BATS_FILE_TMPDIR/probe
  [[ ! -x $PROBE ]] || return 0
  c++ -std=c++23 -Os -fPIE -static-pie -fstack-protector-strong -o "$PROBE" "$REPO/integration/lib/start-probe.cpp" \
    "$REPO/build/release/linux/CMakeFiles/ocirun_start.dir/start/libc_start.cpp.o"
}

@test "the executable has no CPUID, which costs an exit to the hypervisor" {
  objdump -d "$OCIRUN" >"$TMP/code"
  grep -qw syscall "$TMP/code"
  run -1 grep -w cpuid "$TMP/code"
}

@test "the start sets up what glibc's own sets up" {
  build_probe
  GREETING=hello run -7 "$PROBE" word
  [[ $output == 'a constructor is told of 2 arguments
canary random
pointer guard random
word, hello, constructed
page 4096, memory moved
thread joined
exception caught, 2.718
at exit
destroyed' ]] || fail_with_output "another output"
}

@test "a stack buffer overflow is detected" {
  build_probe
  GREETING=hello run -134 "$PROBE" a-text-that-is-longer-than-eight-bytes word
  [[ $output == *'stack smashing detected'* ]] || fail_with_output "not detected"
}
