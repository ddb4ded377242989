# shellcheck shell=bash disable=SC2034,SC2154 # lists that dev defines, or uses
# The checks of `./dev test` and `./dev part`: how they are counted and timed, and which checks a part has. `dev` sources this file
# and defines the functions install, build, prepare_kubernetes and command_fuzz.

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
  local reports report file running=0 without_pods
  reports=$(mktemp -d)
  if [[ $OCIRUN_PODS == OFF ]]; then
    mapfile -t without_pods < <(printf '%s\n' "$@" | grep -v '/pod[^/]*$')
    set -- "${without_pods[@]}"
    skip "tests of pods: OCIRUN_PODS=OFF"
    [[ $# != 0 ]] || { rmdir "$reports" && return; }
  fi
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

# bats_file FILE REPORTS TAGS: runs bats, writes its output to a file in the directory REPORTS, and shows the output.
bats_file() {
  local report=$2/${1//\//-} begin=$SECONDS
  echo "-- $1" >"$report"
  run_bats --timing --filter-tags "$3" "$1" >>"$report" 2>&1 </dev/null || true
  echo "-- $1: $((SECONDS - begin)) s" >>"$report"
  flock "$2" cat "$report"
}

# run_bats BATS_ARGUMENT…: runs bats in the sandbox. The system calls in $without answer ENOSYS. Only a hang reaches the time limit of a
# test: on a busy host a test takes ten times as long, and the boot of systemd a minute.
without=()
run_bats() {
  local limit kernel=()
  limit=$(command -v timeout)
  [[ ${#without[@]} == 0 ]] || kernel=(integration/lib/without "${without[@]}" --)
  BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-400} "$limit" -k 10 2400 "${kernel[@]}" integration/lib/sandbox bats "$@"
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

# count_last_line FILE: adds the counts of the last line "N passed, N failed" of a runner's output.
count_last_line() {
  local ok bad
  read -r ok bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1" | tail -n 1) || true
  count "${ok:-0}" "${bad:-1}"
}

# under_asan FILE…: runs bats files with the asan build. A finding of the sanitizers ends ocirun with a status that no test expects.
under_asan() {
  OCIRUN=$PWD/build/asan/ocirun ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 integration_tests "$@"
}

# System calls that are newer than Linux 5.1. An older kernel answers ENOSYS, for which ocirun has another way.
newer_calls=(openat2 clone3 mount_setattr fsopen pidfd_open close_range)

# Not hooks.bats, whose tests wait for hooks: the unit tests have the rules of hooks.
quick_files() {
  local name
  for name in cli kill lifecycle process exec list mounts lint; do echo "integration/$name.bats"; done
}

# Part accidents: tests that try many damages, losses, delays or repetitions, and take minutes.
accident_files=(integration/{concurrency,damaged,endurance,exhausted,faults,patience,pod_many,scale}.bats)
# Part images: tests that need the root file system of Debian or the image of systemd, which take minutes to make, or the tools of the
# world that make images of containers.
image_files=(integration/{debian,pod_images,pod_services,pod_systemd,systemd}.bats)
everyday_files() { printf '%s\n' integration/*.bats | grep -vxFf <(printf '%s\n' "${accident_files[@]}" "${image_files[@]}"); }

conformance() {
  if [[ -z ${OCIRUN_CONFORMANCE_SUITE:-} ]]; then
    skip "conformance: OCIRUN_CONFORMANCE_SUITE does not name a directory with the suite"
  else
    local report
    report=$(mktemp)
    integration/conformance/run --suite "$OCIRUN_CONFORMANCE_SUITE" </dev/null 2>&1 | tee "$report" || true
    count_last_line "$report"
    rm "$report"
  fi
}

# engines [OPTION…] [NAME…]: runs the engines' check lists with ocirun. --compare runs them with runc and crun too; only the results of
# ocirun are counted.
engines() {
  local report
  install "${client_packages[@]}"
  report=$(mktemp)
  integration/clients/run "$@" </dev/null 2>&1 | tee "$report" || true
  count_last_line "$report"
  rm "$report"
}

# For a virtual machine, which has cgroup v2 alone: the files, and by $v2_names the tests in them, that have to do with limits, and with
# AppArmor. Part uml runs the other files on cgroup v2.
v2_files=(integration/{lsm,unified,felt,resources,update,events,rootless,pod_machine,pod_run}.bats)
selinux_names='P-16|L-34'
v2_names='P-9 |R-[0-9]|probes:|I-[0-9]|[Cc]group|[Pp]aus|kill|limit|^update|^events'
# For part asan: exec.bats reaches most of the code; part asan-more runs the other files. (No leak check: LeakSanitizer traces the
# process, and ocirun is not dumpable.)
asan_files=(integration/exec.bats)
# For a virtual machine: all files but those that boot machines themselves and those whose results do not depend on the kernel. Two
# lists for two machines, one after the other: on a busy host all tests take longer than the time limit of one machine.
whole_files=(integration/{cli,devices,document,events,exec,felt,hooks,interpreters,kill,legacy,lifecycle,list,lsm,man,mistakes}.bats)
more_files=(integration/{mounts,mount_options,namespaces,nested,netdevices,pod_machine,pod_run,process,resources,rootless{,_surroundings},seccomp,terminal,unified,update}.bats
  integration/security/*.bats)
# For part asan-more: the files that are in neither list above. Not exhausted.bats, which takes away resources that the sanitizers
# need themselves.
host_files=(integration/{completion,concurrency,damaged,jobs,machines,patience,service,strangers}.bats)
# Instead of v2_files where the CPU is emulated, because these take only minutes: the values in the files of cgroup v2 (unified), and
# the effect of the limits on processes (felt).
emulated_v2_files=(integration/{unified,felt}.bats)
# For part qemu: tests of kernel features that User-Mode Linux lacks, and of the effect of limits.
qemu_files=(integration/{unified,felt,resources,update,events,rootless,nested,namespaces,exec,pod_machine}.bats)
qemu_names='R-[0-9]|I-[0-9]|P-18|[Pp]aus|kill|limit|^update|^events|time'

# For part architectures.
other_architectures=(armhf i386 ppc64el riscv64 s390x)

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
# names another security module, on cgroup v2 unless $cgroup names another mode. The engine "auto" stands for the answer of choose_machine.
machine_tests() {
  local report rc=0 limit=$2 engine=$1 arguments=("${@:3}")
  [[ $OCIRUN_PODS == ON ]] || mapfile -t arguments < <(printf '%s\n' "${@:3}" | grep -v '/pod[^/]*$')
  install "${vm_packages[@]}"
  [[ $1 != auto ]] || choose_machine || { check "a virtual machine" false && return; }
  [[ $engine != qemu ]] || install "${qemu_packages[@]}"
  echo "on the engine $engine"
  report=$(mktemp)
  BATS_TEST_TIMEOUT=$((limit / 3)) integration/vm/run --engine "$engine" --lsm "${lsm:-apparmor}" --cgroup "${cgroup:-v2}" --timeout "$limit" -- \
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
  if [[ $engine == qemu ]]; then
    echo "the CPU is emulated: only ${emulated_v2_files[*]} run"
    machine_tests qemu 1200 "${emulated_v2_files[@]}"
  else
    machine_tests "$engine" 2400 --filter-tags '!exhaustive' -f "$v2_names" "${v2_files[@]}"
  fi
}

product_sources() { git ls-files -- 'linux/*.cpp' 'cgroups/*.cpp' 'hooks/*.cpp' 'bundle/*.cpp' 'runtime/*.cpp' 'pods/*.cpp'; }

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
  cmake --build build/tidy --target linux/criu.pb-c.h >/dev/null || return 1 # a generated header
  key=$({ git ls-files -- '*.hpp' ':!tests' .clang-tidy | xargs cat; echo "$checks"; } | sha256sum | cut -c1-16)
  "$1" |
    xargs -P "$(nproc)" -I{} "$PWD/dev" tidy-one {} "$key" "$checks"
}

# tidy_one FILE KEY CHECKS
tidy_one() {
  local passed_before=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ocirun-tidy mark
  mark=$passed_before/$2-$(sha256sum "$1" | cut -c1-16)
  [[ ! -e $mark ]] || return 0
  mkdir -p "$passed_before"
  clang-tidy-19 -p build/tidy --quiet --checks="$3" --warnings-as-errors='*' "$1" 2>/dev/null && touch "$mark"
}

# lives ARCH…: the life of containers on these architectures, with builds that are there.
lives() {
  local arch report
  install "${foreign_packages[@]}"
  report=$(mktemp)
  for arch in "$@"; do
    integration/architecture/run "$arch" </dev/null 2>&1 | tee "$report" || true
    count_last_line "$report"
  done
  rm "$report"
}

# foreign_unit_tests ARCH: runs the unit tests of the runtime in a machine of the architecture, whose kernel is a real one.
foreign_unit_tests() {
  local OCIRUN_PODS=OFF report
  check "unit tests for $1" build dev "$1"
  install "${foreign_packages[@]}"
  report=$(mktemp)
  integration/architecture/unit-tests "$1" </dev/null 2>&1 | tee "$report" || true
  count_last_line "$report"
  rm "$report"
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

# --- parts -------------------------------------------------------------------------------------------

# The parts of `./dev test` in their order. `parts` is the default. --landing adds landing_parts, and beside them, in the second lane,
# machine_parts, which boot virtual machines. --all runs all_parts and all_building_parts. Each part can run alone. Only `images` makes
# the images of Debian and of systemd; without the images, the parts without-* skip the tests that need them.
parts=(integration advisories conformance)
landing_parts=(images accidents old-kernel engines cross asan fuzz tidy)
machine_parts=(limits-v2 selinux)
all_parts=(integration images accidents advisories old-kernel without-{openat2,clone3,mount_setattr,fsopen,pidfd_open,close_range} uml selinux scale
  schedule plain memcheck faults qemu-selinux qemu engines engines-systemd comparison schedulers kubernetes conformance)
all_building_parts=(arm64 architectures asan fuzz asan-more tidy-all analyzer packages debian-13)

# part NAME
part() {
  say "$1"
  case $1 in
    quick)
      local files omitted=exhaustive
      mapfile -t files < <(quick_files)
      integration_tests "${files[@]}" ;;
    integration)
      local files
      mapfile -t files < <(everyday_files)
      integration_tests "${files[@]}" ;;
    images)
      prepare_images
      integration_tests "${image_files[@]}" ;;
    accidents) integration_tests "${accident_files[@]}" ;;
    advisories) integration_tests integration/security/*.bats ;;
    old-kernel)
      local without=("${newer_calls[@]}")
      integration_tests integration/{lifecycle,exec,mounts,mount_options}.bats \
        integration/security/{descriptors,devices,executable,mounts,procfs}.bats ;;
    without-*)
      local without=("${1#without-}")
      integration_tests integration/*.bats
      integration_tests integration/security/*.bats ;;
    uml)
      machine_tests uml 3600 "${whole_files[@]}"
      machine_tests uml 3600 "${more_files[@]}" ;;
    limits-v2) limits_v2 ;;
    selinux) lsm=selinux machine_tests auto 900 -f "$selinux_names" integration/lsm.bats ;;
    qemu)
      machine_tests qemu 3600 -f "$qemu_names" "${qemu_files[@]}"
      machine_tests qemu 3600 integration/checkpoint{,_namespaces,_forged,_walls,_files,_memory,_mounting,_surroundings,_cgroups,_host,_dry_run,_foresight,_options,_engines,_daemons,_programs,_rounds}.bats
      cgroup=hybrid machine_tests qemu 1200 integration/checkpoint_cgroups.bats
      cgroup=v1 machine_tests qemu 1200 integration/checkpoint_{cgroups,host}.bats
      OCIRUN_TEST_MACHINE=qemu BATS_TEST_TIMEOUT=900 integration_tests integration/checkpoint_systemd.bats
      machine_tests qemu 3600 integration/checkpoint_killed.bats ;; # criu works under the kernel of this machine
    qemu-selinux) lsm=selinux machine_tests qemu 1200 -f "$selinux_names" integration/lsm.bats ;;
    scale) OCIRUN_TEST_CONTAINERS=1000 BATS_TEST_TIMEOUT=500 integration_tests integration/scale.bats ;;
    schedule)
      OCIRUN_TEST_SECONDS=60 integration_tests integration/concurrency.bats
      OCIRUN_TEST_REPETITIONS=500 integration_tests integration/endurance.bats
      OCIRUN_TEST_PODS=50 integration_tests integration/pod_many.bats ;;
    plain)
      check "dev build" build dev
      unit_tests dev ;;
    memcheck)
      check "dev build" build dev
      install "${memcheck_packages[@]}"
      OCIRUN_TEST_MEMCHECK=1 BATS_TEST_TIMEOUT=600 integration_tests integration/memcheck.bats ;;
    faults)
      check "a fault at every system call" integration/lib/sandbox integration/faults/sweep --bundle plain,rich,network,sockets,bare
      [[ $OCIRUN_PODS == OFF ]] || check "a fault at each seventh system call of pods" integration/lib/sandbox integration/faults/sweep --bundle pod --stride 7 ;;
    engines) engines ;;
    engines-systemd)
      local suite
      choose_machine || { check "a virtual machine" false && return; }
      for suite in bookworm trixie testing; do engines --suite "$suite"; done ;;
    comparison) engines --compare ;;
    schedulers)
      install "${scheduler_packages[@]}"
      engines --compare swarm slurm ;;
    kubernetes)
      check "programs of Kubernetes" prepare_kubernetes
      engines kubernetes ;;
    conformance) conformance ;;
    asan)
      check "asan build" build asan
      under_asan "${asan_files[@]}" ;;
    asan-more)
      check "asan build" build asan
      under_asan "${whole_files[@]}"
      under_asan "${more_files[@]}"
      under_asan "${host_files[@]}" ;;
    packages)
      install "${package_packages[@]}" "${vm_packages[@]}"
      check "packages" ./dev package
      check "packages of a newer version" newer_packages
      check "packages of another folder, compiled anew: the same sums" packages_of_another_folder
      check "a root file system" integration/lib/package-root
      integration_tests integration/packages.bats ;;
    debian-13)
      install "${vm_packages[@]}"
      check "the README's build on Debian 13" integration/lib/debian-13
      OCIRUN=$PWD/build/debian-13/ocirun integration_tests integration/{lifecycle,exec}.bats ;; # it is static
    cross) # without pods, because each landing waits for it
      local OCIRUN_PODS=OFF
      check "build for arm64" build release arm64 ;;
    arm64)
      check "build for arm64" build release arm64
      lives arm64
      foreign_unit_tests arm64 ;;
    architectures)
      local OCIRUN_PODS=OFF arch
      for arch in "${other_architectures[@]}"; do check "build for $arch" build release "$arch"; done
      lives "${other_architectures[@]}" ;;
    fuzz) check "fuzz targets, a few seconds each" command_fuzz 45 ;;
    tidy) check "clang-tidy on what changed" tidy changed_sources ;;
    tidy-all) check "clang-tidy" tidy product_sources ;;
    analyzer) check "clang-tidy with the analyzer" tidy product_sources 'clang-analyzer-*' ;;
    *) usage ;;
  esac
}
