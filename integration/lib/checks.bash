# shellcheck shell=bash disable=SC2034,SC2154 # lists that dev defines, or uses
# The checks of `./dev test` and `./dev part`, and how they are counted and timed. `dev` sources this file and defines the functions
# install and build. parts.bash has the parts, and the lists of files.

# --- counting ----------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0

# begin_lanes: makes the directory $lanes, with the table of times of both lanes, and the output and counts of the second lane.
begin_lanes() {
  lanes=$(mktemp -d)
  trap end_lanes EXIT
}

end_lanes() {
  [[ -z $lane ]] || pkill -P "$lane" || true
  rm -rf "$lanes"
}

# A landing may take 90 minutes. It takes 55 on most machines, and three times as long on the slowest. No part of it begins after
# $latest_begin seconds. If the first parts took more than $slow_after seconds, later parts choose shorter lists. Empty: no limit.
latest_begin='' slow_after=''
# is_late SECONDS: whether so many seconds, unless "", have passed since `./dev` began.
is_late() { [[ -n $1 && $SECONDS -gt $1 ]]; }

# timed NAME COMMAND…: runs the command and adds its line to the table of times.
timed() {
  local name=$1 begin=$SECONDS ok=$passed bad=$failed missed=$skipped
  shift
  "$@"
  printf '%s\t%d\t%d\t%d\t%d\n' "$name" $((SECONDS - begin)) $((passed - ok)) $((failed - bad)) $((skipped - missed)) >>"$lanes/times"
}

# beside COMMAND…: runs a command in the second lane. Only one at a time: join() first.
lane=
# shellcheck disable=SC2030,SC2031 # join() adds the subshell's counts
beside() {
  (
    passed=0 failed=0 skipped=0
    "$@"
    echo "$passed $failed $skipped" >"$lanes/counted"
  ) >"$lanes/output" 2>&1 </dev/null &
  lane=$!
}

# join: waits for the second lane, shows its output, and adds its counts.
join() {
  local ok bad missed
  wait "$lane" || true
  lane=
  cat "$lanes/output"
  if read -r ok bad missed 2>/dev/null <"$lanes/counted"; then count "$ok" "$bad" "$missed"; else check "the second lane came to its end" false; fi
  rm -f "$lanes/counted"
}

# count PASSED FAILED [SKIPPED]
# shellcheck disable=SC2031
count() {
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
}

# check TEXT COMMAND…: runs a command that counts as one check.
check() {
  local text=$1
  shift
  if "$@"; then
    echo "ok: $text"
    count 1 0
  else
    echo "FAILED: $text"
    count 0 1
  fi
}

skip() {
  echo "skipped: $1"
  count 0 0 1
}

# --- checks ------------------------------------------------------------------------------------------

sources() { git ls-files -- '*.cpp' '*.hpp'; }
check_format() { sources | xargs -P "$(nproc)" -n 50 clang-format-19 --dry-run --Werror; }

# format: another version would lay out the sources differently.
format() {
  apt-cache show clang-format-19 >/dev/null 2>&1 || { skip "clang-format: this Debian has no version 19" && return; }
  install clang-format-19
  check "clang-format" check_format
}

# unit_tests PRESET [BOOST_OPTION…]: runs the *_tests programs of the preset, two at once, and adds the counts of Boost's reports. Shows
# the report of a program that has failed.
unit_tests() {
  local program report reports
  reports=$(mktemp -d)
  # shellcheck disable=SC2016 # the inner shell expands these
  printf '%s\n' build/"$1"/*_tests | xargs -P 2 -I{} bash -c \
    '"$1" --report_level=short --log_level=error --color_output=no "${@:3}" </dev/null >"$2/${1##*/}" 2>&1; echo $? >"$2/${1##*/}.status"' \
    one {} "$reports" "${@:2}"
  for program in build/"$1"/*_tests; do
    report=$reports/${program##*/}
    echo "-- $program"
    [[ $(<"$report.status") == 0 ]] || grep -v '^ *$' "$report"
    count_boost "$report" "$(<"$report.status")"
  done
  rm -r "$reports"
}

# count_boost FILE STATUS: adds the counts of a report, "N test cases out of M passed|failed|skipped|aborted". A program that ends with a
# status other than 0 without a failed case (it died, or LeakSanitizer has found a leak) counts as one failure.
count_boost() {
  local ok bad missed
  ok=$(boost_number "passed( with warnings)?" "$1")
  bad=$(($(boost_number failed "$1") + $(boost_number aborted "$1")))
  missed=$(boost_number skipped "$1")
  [[ $bad != 0 || ($2 == 0 && $ok != 0) ]] || bad=1
  echo "   $ok passed, $bad failed, $missed skipped"
  count "$ok" "$bad" "$missed"
}

boost_number() {
  sed -nE "s/^ *([0-9]+) test cases? out of [0-9]+ $1\$/\\1/p" "$2" | awk '{sum += $1} END {print sum + 0}'
}

# integration_tests FILE…: runs each bats file in a sandbox of its own, and counts the TAP lines. Two files for each processor run at
# once, because tests often wait. The files with the most tests begin first, because these files last longest.
# Shows the output of a file when the file has ended. The tests with bats' tag "alone", which see what other tests do to the host, run
# one after the other at the end. The tests with the tag in $omitted do not run.
omitted=none
integration_tests() {
  local reports report file running=0 files
  mapfile -t files < <(printf '%s\n' "$@" | built)
  [[ $OCIRUN_PODS == ON ]] || skip "tests of pods: OCIRUN_PODS=OFF"
  [[ $OCIRUN_CRIU == ON ]] || skip "tests of checkpoint and restore: OCIRUN_CRIU=OFF"
  [[ ${#files[@]} != 0 ]] || return 0
  set -- "${files[@]}"
  reports=$(mktemp -d)
  (
    while read -r _ file; do
      if ((++running > 2 * $(nproc))); then wait -n || true; fi
      bats_file "$file" "$reports" "!alone,!$omitted" &
    done < <(grep -Hc '^@test' "$@" | sed -E 's/(.*):(.*)/\2 \1/' | sort -rn)
    wait
  )
  mkdir "$reports/alone"
  while read -r file; do bats_file "$file" "$reports/alone" "alone,!$omitted"; done < <(grep -l 'test_tags=alone' "$@")
  for report in "$reports"/*.bats "$reports"/alone/*.bats; do [[ ! -e $report ]] || count_tap "$report"; done
  rm -r "$reports"
}

# built: the lines of standard input without the bats files of what the build leaves out.
built() {
  local left_out='^$'
  [[ $OCIRUN_PODS == ON ]] || left_out+='|/pod[^/]*$'
  [[ $OCIRUN_CRIU == ON ]] || left_out+='|/checkpoint[^/]*$'
  grep -vE "$left_out" || true
}

# bats_file FILE REPORTS TAGS: runs bats, writes its output to a file in the directory REPORTS, and shows the output.
bats_file() {
  local report=$2/${1//\//-} begin=$SECONDS
  echo "-- $1" >"$report"
  run_bats --timing --filter-tags "$3" "$1" >>"$report" 2>&1 </dev/null || true
  echo "-- $1: $((SECONDS - begin)) s" >>"$report"
  flock "$2" cat "$report"
}

# run_bats BATS_ARGUMENT…: runs bats in the sandbox. The system calls in $without answer ENOSYS. Only a hang reaches the time limit of a
# test: on a busy host a test takes ten times as long, and the boot of systemd a minute. bats' stopwatch is a `sleep` of that time, which no
# test uses for itself: lib/host.bash tells them apart by the number.
without=()
run_bats() {
  local limit kernel=()
  limit=$(command -v timeout)
  [[ ${#without[@]} == 0 ]] || kernel=(integration/lib/without "${without[@]}" --)
  BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-1190} "$limit" -k 10 3600 "${kernel[@]}" integration/lib/sandbox bats "$@"
}

# count_tap FILE: adds the counts of bats' output. A test of the plan (1..N) without a line counts as failed.
count_tap() {
  local planned ok missed bad
  planned=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$1")
  missed=$(grep -cE '^ok .* # skip' "$1" || true)
  ok=$(($(grep -cE '^ok ' "$1" || true) - missed))
  bad=$((${planned:-1} - ok - missed))
  count "$ok" "$bad" "$missed"
}

# counted COMMAND…: runs a command and adds the counts of its last line "N passed, N failed" (and ", N skipped").
counted() {
  local report ok bad missed
  report=$(mktemp)
  "$@" </dev/null 2>&1 | tee "$report" || true
  read -r ok bad missed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$report" | tail -n 1) || true
  rm "$report"
  count "${ok:-0}" "${bad:-1}" "${missed:-0}"
}

# under_asan FILE…: runs bats files with the asan build. A finding of the sanitizers ends ocirun with a status that no test expects.
under_asan() {
  OCIRUN=$PWD/build/asan/ocirun ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 integration_tests "$@"
}

conformance() {
  if [[ -z ${OCIRUN_CONFORMANCE_SUITE:-} ]]; then
    skip "conformance: OCIRUN_CONFORMANCE_SUITE does not name a directory with the suite"
  else
    counted integration/conformance/run --suite "$OCIRUN_CONFORMANCE_SUITE"
  fi
}

# engines [OPTION…] [NAME…]: runs the engines' check lists with ocirun. --compare runs them with runc and crun too; only the results of
# ocirun are counted.
engines() {
  install "${client_packages[@]}"
  counted integration/clients/run "$@"
}

# prepare_images: makes the root file system of Debian and the images that systemd.bats and machine_tests boot, before the tests: the
# sandbox has no network to download packages.
prepare_images() {
  say "images"
  check "debootstrap" integration/lib/debian-rootfs
  install "${client_packages[@]}" "${image_packages[@]}"
  install "${vm_packages[@]}"
  integration/vm/systemd-ns -- true </dev/null || skip "systemd as PID 1 of namespaces does not run here"
  check "a virtual machine" choose_machine
}

# choose_machine: sets $engine to the engine that runs virtual machines on this host (vm/choose). Installs QEMU if it is needed.
choose_machine() {
  install "${vm_packages[@]}"
  [[ ! -w /dev/kvm ]] || install "${qemu_packages[@]}"
  engine=$(integration/vm/choose) && return
  install "${qemu_packages[@]}"
  engine=$(integration/vm/choose)
}

# machine_tests ENGINE SECONDS BATS_ARGUMENT…: runs and counts bats in a virtual machine without systemd, with AppArmor unless $lsm
# names another security module, on cgroup v2 unless $cgroup names another mode, of the tests' own Debian unless $machine_suite names
# a suite, with a core of two threads if $smt is 1. The engine "auto" stands for the answer of choose_machine.
machine_tests() {
  local report rc=0 limit=$2 engine=$1 arguments
  mapfile -t arguments < <(printf '%s\n' "${@:3}" | built)
  install "${vm_packages[@]}"
  [[ $1 != auto ]] || choose_machine || { check "a virtual machine" false && return; }
  [[ $engine != qemu ]] || install "${qemu_packages[@]}"
  echo "on the engine $engine"
  report=$(mktemp)
  BATS_TEST_TIMEOUT=$((limit / 3)) integration/vm/run --engine "$engine" ${machine_suite:+--suite "$machine_suite"} ${smt:+--smt} --lsm "${lsm:-apparmor}" --cgroup "${cgroup:-v2}" --timeout "$limit" -- \
    integration/lib/sandbox bats --timing "${arguments[@]}" 2>&1 | tee "$report" || rc=${PIPESTATUS[0]}
  if [[ $rc == 125 ]] && ! grep -qE '^1\.\.' "$report"; then
    check "the virtual machine: the engine $engine runs here: $(tail -n 1 "$report")" false
  else
    count_tap "$report"
  fi
  rm "$report"
}

# limits_v2: the tests of limits on cgroup v2, in whichever virtual machine runs here. Every landing needs them.
limits_v2() {
  local engine
  choose_machine || { check "a virtual machine" false && return; }
  if [[ $engine == qemu ]] || is_late "$slow_after"; then
    echo "the CPU is emulated, or this machine is slow: only ${emulated_v2_files[*]} run"
    machine_tests "$engine" 2400 "${emulated_v2_files[@]}"
  else
    machine_tests "$engine" 3000 --filter-tags '!exhaustive' -f "$v2_names" "${v2_files[@]}"
  fi
}

product_sources() { git ls-files -- 'linux/*.cpp' 'cgroups/*.cpp' 'hooks/*.cpp' 'bundle/*.cpp' 'runtime/*.cpp' 'criu/*.cpp' 'pods/*.cpp'; }

# changed_sources: the sources that changed, or whose header changed, in the six hours before the last commit: all sources take twenty
# minutes, and --all checks them. In a clone without so old a commit: all sources.
changed_sources() {
  local base
  base=$(git rev-list -1 --before="$(date -Is -d "@$(($(git log -1 --format=%ct) - 6 * 60 * 60))")" HEAD)
  [[ -n $base ]] || { product_sources && return; }
  git diff --name-only "$base" | sed -E 's/\.hpp$/.cpp/' | sort -u | grep -Fx -f <(product_sources) || true
}

# tidy SOURCES [CHECKS]: runs clang-tidy on the sources that the function SOURCES lists. A source that has passed with the same headers and
# checks, in any clone on this machine, is not checked again.
tidy() {
  local checks=${2:-} key
  install "${tidy_packages[@]}"
  cmake --preset tidy -DCMAKE_CXX_CLANG_TIDY= -DBUILD_TESTING=OFF >/dev/null || return 1
  cmake --build build/tidy --target criu/criu.pb-c.h >/dev/null || return 1 # a generated header
  key=$({ git ls-files -- '*.hpp' ':!tests' .clang-tidy | xargs cat; echo "$checks"; } | sha256sum | cut -c1-16)
  # On a slow machine, the sources that are left ten minutes after the last begin of a part are named, and not checked.
  [[ -z $latest_begin ]] || export OCIRUN_TIDY_UNTIL=$((EPOCHSECONDS - SECONDS + latest_begin + 600))
  "$1" |
    xargs -P "$(nproc)" -I{} "$PWD/dev" tidy-one {} "$key" "$checks"
}

# tidy_one FILE KEY CHECKS
tidy_one() {
  local passed_before=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ocirun-tidy mark
  mark=$passed_before/$2-$(sha256sum "$1" | cut -c1-16)
  [[ ! -e $mark ]] || return 0
  [[ -z ${OCIRUN_TIDY_UNTIL:-} || $EPOCHSECONDS -lt $OCIRUN_TIDY_UNTIL ]] || { echo "skipped: $1: this machine is slow" && return 0; }
  mkdir -p "$passed_before"
  clang-tidy-19 -p build/tidy --quiet --checks="$3" --warnings-as-errors='*' "$1" 2>/dev/null && touch "$mark"
}

# lives ARCH…: the life of containers on these architectures, with builds that are there.
lives() {
  local arch
  install "${foreign_packages[@]}"
  for arch in "$@"; do counted integration/architecture/run "$arch"; done
}

# foreign_packages ARCH: the Debian packages depend on the libraries of that architecture, which dpkg-shlibdeps has found.
foreign_packages() {
  local package
  install "${package_packages[@]}"
  ./dev package --arch "$1" || return 1
  for package in "build/packages-$1"/*.deb; do
    [[ "$(dpkg-deb -f "$package" Architecture) $(dpkg-deb -f "$package" Depends)" == "$1 "*"libc6 (>= "* ]] || { dpkg-deb -f "$package" && return 1; }
  done
}

# foreign_unit_tests ARCH: runs the unit tests of the runtime in a machine of the architecture, whose kernel is a real one.
foreign_unit_tests() {
  local OCIRUN_PODS=OFF
  check "unit tests for $1" build dev "$1"
  install "${foreign_packages[@]}"
  counted integration/architecture/unit-tests "$1"
}

# other_debian SUITE: the README's build, and ./dev test --quick, in a root of this suite.
other_debian() {
  install "${vm_packages[@]}"
  check "the README's build on Debian $1" integration/lib/other-debian "$1"
  counted integration/lib/other-debian "$1" ./dev test --quick
}

# compilers: release builds by clang 19, and by the compilers of testing that are not its default. The programs are static, so the
# tests run them here. Debian 12, 13 and testing build with g++ 12, 14 and 16.
compilers() {
  local compiler root=${OCIRUN_TEST_CACHE:-/var/cache/ocirun-test}/debian-testing-build
  install "${asan_packages[@]}" "${vm_packages[@]}"
  check "a build by clang++-19" build_by clang++-19
  OCIRUN=$PWD/build/clang++-19/ocirun integration_tests integration/{lifecycle,exec}.bats
  for compiler in g++-15 clang++; do
    check "a build by $compiler of Debian testing" integration/lib/other-debian testing bash -euc "
      apt-get -q install ${compiler/clang++/clang} ${build_packages[*]} ${criu_packages[*]} && source integration/lib/checks.bash && build_by $compiler"
    OCIRUN=$root/build/$compiler/ocirun integration_tests integration/{lifecycle,exec}.bats
  done
}

# build_by COMPILER: builds the runtime in build/COMPILER.
build_by() {
  cmake --preset release -B "build/$1" -DCMAKE_CXX_COMPILER="$1" -DOCIRUN_PODS=OFF >/dev/null && cmake --build "build/$1"
}

# build_without OPTION DIRECTORY: a release build of the runtime and its unit tests, without what this option of CMake adds.
build_without() {
  cmake --preset release -B "build/$2" -DBUILD_TESTING=ON -DOCIRUN_PODS=OFF "-D$1=OFF" >/dev/null && cmake --build "build/$2"
}

# kernels: bats files on the kernels of User-Mode Linux that the suites have (5.10, 6.1, 6.12 and, in 2026, 7.2), with pure cgroup v2.
kernels() {
  local suite
  for suite in bullseye bookworm trixie testing; do machine_suite=$suite machine_tests uml 3600 "${kernel_files[@]}"; done
}

# newer_packages: build/packages-newer has the same programs as build/packages, with the version 0.99.0.
newer_packages() {
  rm -rf build/packages-newer
  (cd build/package && SOURCE_DATE_EPOCH=$(date +%s) cpack -G DEB -D CPACK_PACKAGE_VERSION=0.99.0 -B ../packages-newer >cpack.log 2>&1)
}

packages_of_another_folder() {
  local folder rc=0
  folder=$(mktemp -d)
  git clone --quiet . "$folder/clone"
  (umask 027 && CCACHE_DISABLE=1 TZ=Asia/Tokyo "$folder/clone/dev" package >"$folder/log" 2>&1) || { cat "$folder/log" && rc=1; }
  diff build/packages/SHA256SUMS "$folder/clone/build/packages/SHA256SUMS" || rc=1
  rm -rf "$folder"
  return "$rc"
}
