# shellcheck shell=bash disable=SC2034,SC2154 # lists that dev defines, or uses
# The checks of `./dev test` and `./dev part`: how they are counted and timed, and what each part is. dev sources this file; install,
# build and command_fuzz are its own.

# --- counting ----------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0

# What the lanes of a run share: the table of times, and of the second lane its output and what it counted.
begin_lanes() {
  lanes=$(mktemp -d)
  trap end_lanes EXIT
}

end_lanes() {
  [[ -z $lane ]] || pkill -P "$lane" || true
  rm -rf "$lanes"
}

# timed NAME COMMAND…: a line for the table of times.
timed() {
  local name=$1 begin=$SECONDS ok=$passed bad=$failed missed=$skipped
  shift
  "$@"
  printf '%s\t%d\t%d\t%d\t%d\n' "$name" $((SECONDS - begin)) $((passed - ok)) $((failed - bad)) $((skipped - missed)) >>"$lanes/times"
}

# beside COMMAND…: in a second lane, below the first one's priority. One at a time.
lane=
# shellcheck disable=SC2030,SC2031 # join() adds up what the subshell has counted
beside() {
  (
    passed=0 failed=0 skipped=0
    renice -n 5 -p "$BASHPID" >/dev/null
    "$@"
    echo "$passed $failed $skipped" >"$lanes/counted"
  ) >"$lanes/output" 2>&1 </dev/null &
  lane=$!
}

# join: waits for the second lane, shows its output, and adds up what it counted.
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

# check TEXT COMMAND…: one check of its own.
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
check_format() { sources | xargs clang-format-19 --dry-run --Werror; }

# unit_tests PRESET: runs each *_tests program of the preset and adds up what Boost reports.
unit_tests() {
  local program report
  report=$(mktemp)
  for program in build/"$1"/*_tests; do
    echo "-- $program"
    "$program" --report_level=short --log_level=error --color_output=no </dev/null >"$report" 2>&1 ||
      grep -v '^ *$' "$report"
    count_boost "$report"
  done
  rm "$report"
}

# count_boost FILE: "N test cases out of M passed|failed|skipped|aborted"; a program that died reports nothing.
count_boost() {
  local ok bad missed
  ok=$(boost_number "passed( with warnings)?" "$1")
  bad=$(($(boost_number failed "$1") + $(boost_number aborted "$1")))
  missed=$(boost_number skipped "$1")
  [[ $((ok + bad)) -gt 0 ]] || bad=1
  echo "   $ok passed, $bad failed, $missed skipped"
  count "$ok" "$bad" "$missed"
}

boost_number() {
  sed -nE "s/^ *([0-9]+) test cases? out of [0-9]+ $1\$/\\1/p" "$2" | awk '{sum += $1} END {print sum + 0}'
}

# integration_tests FILE…: bats in the sandbox, its TAP lines shown and counted. Many files are tested in two sandboxes at once,
# since tests mostly wait; the lines of the second one are shown when the first one has ended.
integration_tests() {
  local reports first=() second=() file other=
  reports=$(mktemp -d)
  if [[ $# -lt 8 ]]; then
    first=("$@")
  else
    # The largest files by turns.
    while read -r _ file; do
      if ((${#first[@]} > ${#second[@]})); then second+=("$file"); else first+=("$file"); fi
    done < <(grep -c '^@test' "$@" | sed -E 's/(.*):(.*)/\2 \1/' | sort -rn)
    run_bats --timing "${second[@]}" >"$reports/second" 2>&1 </dev/null &
    other=$!
  fi
  run_bats --timing "${first[@]}" 2>&1 | tee "$reports/first" || true
  count_tap "$reports/first"
  if [[ -n $other ]]; then
    wait "$other" || true
    cat "$reports/second"
    count_tap "$reports/second"
  fi
  rm -r "$reports"
}

# run_bats BATS_ARGUMENT…: on a kernel without the system calls in $without.
without=()
run_bats() {
  local limit kernel=()
  limit=$(command -v timeout)
  [[ ${#without[@]} == 0 ]] || kernel=(integration/lib/without "${without[@]}" --)
  BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120} "$limit" -k 10 1200 "${kernel[@]}" integration/lib/sandbox bats "$@"
}

# count_tap FILE: a test that the plan promises and that has no line has failed.
count_tap() {
  local planned ok missed bad
  planned=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$1")
  missed=$(grep -cE '^ok .* # skip' "$1" || true)
  ok=$(($(grep -cE '^ok ' "$1" || true) - missed))
  bad=$((${planned:-1} - ok - missed))
  count "$ok" "$bad" "$missed"
}

# count_last_line FILE: of a runner that ends with "N passed, N failed".
count_last_line() {
  local ok bad
  read -r ok bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1" | tail -n 1) || true
  count "${ok:-0}" "${bad:-1}"
}

# under_asan FILE…: what the sanitizers find ends the command, with a status that no test expects.
under_asan() {
  OCIRUN=$PWD/build/asan/ocirun ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 integration_tests "$@"
}

# What kernels since 5.1 brought and older ones answer with ENOSYS.
newer_calls=(openat2 clone3 mount_setattr fsopen pidfd_open close_range)

quick_files() {
  local name
  for name in cli kill lifecycle document process interpreters hooks exec list mounts mount_options namespaces lint; do echo "integration/$name.bats"; done
}

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

# engines [OPTION…] [NAME…]: each one's check list with ocirun; with --compare also with runc and crun, and only ocirun's are counted.
engines() {
  local report
  install "${client_packages[@]}"
  report=$(mktemp)
  integration/clients/run "$@" </dev/null 2>&1 | tee "$report" || true
  count_last_line "$report"
  rm "$report"
}

# In a virtual machine there is cgroup v2 and nothing else: what speaks of cgroups is meaningful there.
v2_files=(integration/{lsm,unified,felt,resources,update,events,kill,lifecycle,list,mounts,mount_options,exec,devices,rootless,nested}.bats)
selinux_names='P-16|L-34'
v2_names='P-9 |R-[0-9]|I-[0-9]|M-12|[Cc]group|[Pp]aus|kill|limit|^update|^events|ocirun in'
# AddressSanitizer looks for leaks by tracing, which a runtime that is not dumpable does not allow.
asan_files=(integration/{exec,hooks}.bats)
# Not what makes machines itself, and not what another kernel does not change. Two machines, one after the other: beside
# other work, all of it takes longer than a machine is given.
whole_files=(integration/{cli,devices,document,events,exec,felt,hooks,interpreters,kill,legacy,lifecycle,list,lsm,man,mistakes}.bats)
more_files=(integration/{mounts,mount_options,namespaces,nested,netdevices,process,resources,rootless{,_surroundings},seccomp,terminal,unified,update}.bats
  integration/security/*.bats)
# The rest of what any kernel does; exhausted.bats takes away what the sanitizers need themselves.
host_files=(integration/{completion,concurrency,damaged,jobs,machines,patience,service,strangers}.bats)
# The same where the CPU is emulated, in minutes: what is written to the files of cgroup v2, and what is felt of it.
emulated_v2_files=(integration/{unified,felt}.bats)
# What User-Mode Linux lacks, and what is felt.
qemu_files=(integration/{unified,felt,resources,update,events,rootless,nested,namespaces,exec}.bats)
qemu_names='R-[0-9]|I-[0-9]|P-18|[Pp]aus|kill|limit|^update|^events|time'

# prepare_machines: what systemd.bats and machine_tests boot; the tests' sandbox has no network to make it with.
prepare_machines() {
  say "images for virtual machines"
  install "${vm_packages[@]}"
  integration/vm/systemd-ns -- true </dev/null || skip "systemd as PID 1 of namespaces does not run here"
  check "a virtual machine" choose_machine
}

# choose_machine: sets $engine to what machines run with on this host: vm/choose. QEMU is installed where it is needed.
choose_machine() {
  install "${vm_packages[@]}"
  [[ ! -w /dev/kvm ]] || install "${qemu_packages[@]}"
  engine=$(integration/vm/choose) && return
  install "${qemu_packages[@]}"
  engine=$(integration/vm/choose)
}

# machine_tests ENGINE SECONDS BATS_ARGUMENT…: in one boot of a virtual machine without systemd, with AppArmor
# unless $lsm names another module. The engine "auto" is what runs here.
machine_tests() {
  local report rc=0 limit=$2 engine=$1
  install "${vm_packages[@]}"
  [[ $1 != auto ]] || choose_machine || { check "a virtual machine" false && return; }
  [[ $engine != qemu ]] || install "${qemu_packages[@]}"
  echo "on the engine $engine"
  report=$(mktemp)
  BATS_TEST_TIMEOUT=$((limit / 3)) integration/vm/run --engine "$engine" --lsm "${lsm:-apparmor}" --timeout "$limit" -- \
    integration/lib/sandbox bats --timing "${@:3}" 2>&1 | tee "$report" || rc=${PIPESTATUS[0]}
  if [[ $rc == 125 ]] && ! grep -qE '^1\.\.' "$report"; then
    check "the virtual machine: the engine $engine runs here: $(tail -n 1 "$report")" false
  else
    count_tap "$report"
  fi
  rm "$report"
}

# limits_v2: limits on cgroup v2, which every landing has to show on some machine.
limits_v2() {
  local engine
  choose_machine || { check "a virtual machine" false && return; }
  if [[ $engine == qemu ]]; then
    echo "the CPU is emulated: only ${emulated_v2_files[*]} run"
    machine_tests qemu 1200 "${emulated_v2_files[@]}"
  else
    machine_tests "$engine" 1200 -f "$v2_names" "${v2_files[@]}"
  fi
}

# tidy [CHECKS]: clang-tidy over the product's sources. What passed before with the same headers and checks is
# not read again, in any clone of this machine.
tidy() {
  local checks=${1:-} key
  install "${tidy_packages[@]}"
  cmake --preset tidy -DCMAKE_CXX_CLANG_TIDY= -DBUILD_TESTING=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null || return 1
  key=$({ git ls-files -- '*.hpp' .clang-tidy | xargs cat; echo "$checks"; } | sha256sum | cut -c1-16)
  git ls-files -- 'linux/*.cpp' 'cgroups/*.cpp' 'hooks/*.cpp' 'bundle/*.cpp' 'runtime/*.cpp' |
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

# --- parts -------------------------------------------------------------------------------------------

# Everything after the unit tests, in order: what a newcomer runs, what a landing adds, and what --all runs. Each runs without
# the others; of another distribution and of systemd only `integration` makes the images, without which without-* skip
# those tests. Those of building_parts keep all processors busy themselves.
parts=(integration advisories conformance)
landing_parts=(old-kernel limits-v2 selinux engines)
building_parts=(asan fuzz tidy)
all_building_parts=(asan-more analyzer)
all_parts=(integration advisories old-kernel without-{openat2,clone3,mount_setattr,fsopen,pidfd_open,close_range} uml selinux scale
  schedule memcheck faults qemu-selinux qemu engines comparison schedulers conformance)

# part NAME
part() {
  say "$1"
  case $1 in
    quick)
      local files
      mapfile -t files < <(quick_files)
      integration_tests "${files[@]}" ;;
    integration)
      check "debootstrap" integration/lib/debian-rootfs
      prepare_machines
      # Where the CPU is emulated, systemd alone takes a minute to boot.
      [[ ${engine:-} != qemu ]] || local BATS_TEST_TIMEOUT=400
      integration_tests integration/*.bats ;;
    advisories) integration_tests integration/security/*.bats ;;
    old-kernel)
      local without=("${newer_calls[@]}")
      integration_tests integration/{kill,lifecycle,exec,mounts,mount_options,events}.bats
      integration_tests integration/security/*.bats ;;
    without-*)
      local without=("${1#without-}")
      integration_tests integration/*.bats
      integration_tests integration/security/*.bats ;;
    uml)
      machine_tests uml 3600 "${whole_files[@]}"
      machine_tests uml 3600 "${more_files[@]}" ;;
    limits-v2) limits_v2 ;;
    selinux) lsm=selinux machine_tests auto 900 -f "$selinux_names" integration/lsm.bats ;;
    qemu) machine_tests qemu 3600 -f "$qemu_names" "${qemu_files[@]}" ;;
    qemu-selinux) lsm=selinux machine_tests qemu 1200 -f "$selinux_names" integration/lsm.bats ;;
    scale) OCIRUN_TEST_CONTAINERS=1000 BATS_TEST_TIMEOUT=500 integration_tests integration/scale.bats ;;
    schedule) OCIRUN_TEST_SECONDS=60 integration_tests integration/concurrency.bats ;;
    memcheck)
      install "${memcheck_packages[@]}"
      OCIRUN_TEST_MEMCHECK=1 BATS_TEST_TIMEOUT=600 integration_tests integration/memcheck.bats ;;
    faults) check "a fault at every system call" integration/lib/sandbox integration/faults/sweep ;;
    engines) engines ;;
    comparison) engines --compare ;;
    schedulers)
      install "${scheduler_packages[@]}"
      engines --compare swarm slurm ;;
    conformance) conformance ;;
    asan)
      check "asan build" build asan
      unit_tests asan
      under_asan "${asan_files[@]}" ;;
    asan-more)
      check "asan build" build asan
      under_asan "${whole_files[@]}"
      under_asan "${more_files[@]}"
      under_asan "${host_files[@]}" ;;
    fuzz) check "fuzz targets, a few seconds each" command_fuzz 45 ;;
    tidy) check "clang-tidy" tidy ;;
    analyzer) check "clang-tidy with the analyzer" tidy 'clang-analyzer-*' ;;
    *) usage ;;
  esac
}
