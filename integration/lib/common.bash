# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# Every test file loads this: `load lib/common`.
#
# setup gives each test $ID (a container id), $BUNDLE (a busybox bundle that runs `sleep 1000`), $ROOT (a private
# state root, not yet made) and $TMP (a scratch directory). teardown deletes the test's containers by force, and
# fails the test if the host is not as it was before: lib/host.bash.

bats_require_minimum_version 1.5.0
LIB=${BASH_SOURCE[0]%/*} # absolute, as bats gives it to `source`
REPO=${LIB%/integration/*}
OCIRUN=${OCIRUN:-$REPO/build/release/ocirun}
: "${OCIRUN_TEST_CACHE:=/var/cache/ocirun-test}"
# shellcheck source=integration/lib/host.bash
source "$LIB/host.bash"
# shellcheck source=integration/lib/cgroup.bash
source "$LIB/cgroup.bash"
# shellcheck source=integration/lib/assert.bash
source "$LIB/assert.bash"

setup() { common_setup; }
teardown() { common_teardown; }

common_setup() {
  READY=0
  [[ ${OCIRUN_TEST_SANDBOX:-} == 1 ]] || abort "run the tests by ./dev bats FILE…, which makes the sandbox"
  [[ -x $OCIRUN ]] || abort "no runtime at $OCIRUN: ./dev build, or set OCIRUN"
  ID=$OCIRUN_TEST_MARK$BATS_SUITE_TEST_NUMBER
  TMP=$BATS_TEST_TMPDIR ROOT=$BATS_TEST_TMPDIR/root BUNDLE=$BATS_TEST_TMPDIR/bundle
  HELPERS=()
  make_bundle "$BUNDLE"
  cd "$TMP" || return
  untraced remember_host
  READY=1
}

common_teardown() {
  [[ $READY == 1 ]] || return 0
  stop_helpers
  delete_containers
  untraced compare_host || return # bats runs teardown without errexit
  free_memory
}

# free_memory: removes the files of a passed test. They lie in a tmpfs, and the bundles of hundreds of tests fill a small machine.
free_memory() {
  [[ ${BATS_TEST_COMPLETED:-} == 1 ]] || return 0
  cd "$BATS_RUN_TMPDIR" || return
  rm -rf --one-file-system "${TMP:?}" || true
}

# has_pods: whether the build has `ocirun pod` (OCIRUN_PODS). needs_pods skips the test otherwise.
has_pods() { [[ -x ${OCIRUN%/*}/ocirun-pod ]]; }
needs_pods() { has_pods || skip "this build has no pods"; }

# has_kept_images: whether the build runs from kept images of its executable. Builds with OCIRUN_FAST_START=OFF, builds other than release
# and those for some processors do not. needs_kept_image skips the test otherwise.
has_kept_images() { [[ $("$OCIRUN" features | jq -r '.annotations["org.ocirun.sealed"]') == overlay ]]; }
needs_kept_image() { has_kept_images || skip "this build keeps no image of its executable"; }

# untraced FUNCTION…: calls it without bats' DEBUG trap, which makes loops a hundred times slower.
untraced() {
  local -
  set +T
  "$@"
}

abort() {
  echo "$*" >&2
  exit 1
}

# --- bundles ---------------------------------------------------------------------------------------

# make_bundle DIR: makes a bundle from lib/config.json with a busybox rootfs of its own; cgroupsPath is "/$ID".
make_bundle() {
  local config begin='"linux": {'
  [[ -e $BATS_RUN_TMPDIR/bundle ]] || make_template
  cp -a "$BATS_RUN_TMPDIR/bundle" "$1"
  read -rd '' config <"$LIB/config.json" || true
  echo "${config/"$begin"/"$begin\"cgroupsPath\": \"/$ID\","}" >"$1/config.json"
}

# make_template: makes $BATS_RUN_TMPDIR/bundle/rootfs, which each test copies.
make_template() {
  local dir=$BATS_RUN_TMPDIR/bundle.new/rootfs name
  mkdir -p "$dir"/{bin,dev,etc,proc,root,run,sys,usr/bin,var}
  mkdir -m 1777 "$dir/tmp"
  cp "$(command -v busybox)" "$dir/bin/busybox"
  for name in "${APPLETS[@]}"; do ln -s /bin/busybox "$dir/bin/$name"; done
  printf '%s\n' root:x:0:0:root:/root:/bin/sh bin:x:1:1:bin:/bin:/bin/sh web:x:1000:1000::/home/web:/bin/sh \
    >"$dir/etc/passwd"
  printf '%s\n' root:x:0: tty:x:5: web:x:1000: >"$dir/etc/group"
  mv "$BATS_RUN_TMPDIR/bundle.new" "$BATS_RUN_TMPDIR/bundle"
}

# Busybox's programs that tests run in containers. (A link for each of its 270 programs would double the time of the copy.)
APPLETS=('[' '[[' arch awk basename cat chmod chown chroot clear cmp cp cut date dd df diff dirname dmesg echo ed env expr false find free grep
  groups head hexdump hostname id ifconfig init ionice ip kill killall last less link linux32 linux64 ln logger losetup ls mkdir mkfifo
  mknod mktemp more mount mv nc netstat nice nproc nsenter od paste pidof ping pivot_root printf ps pwd readlink realpath renice reset
  rev rm rmdir route sed seq setpriv setsid sh sha256sum sleep sort stat strings stty sync sysctl tail taskset tee test time timeout top
  touch tr true truncate ts tty umount uname uniq unlink unshare uptime usleep vi w watch wc wget which who whoami xargs xxd yes)

# config FILTER [JQ OPTION…]: edits $BUNDLE/config.json.
config() {
  local config
  config=$(jq "$1" "$BUNDLE/config.json" "${@:2}") && echo "$config" >"$BUNDLE/config.json"
}

# program WORD…: sets the container's program. script TEXT: sets it to a shell that runs TEXT.
program() { config '.process.args = $ARGS.positional' --args -- "$@"; }
script() { program sh -c "$1"; }

# capabilities NAME…: the program's capabilities (bounding, effective, permitted).
capabilities() {
  config '.process.capabilities = ($ARGS.positional | {bounding: ., effective: ., permitted: .})' --args -- "$@"
}

# add_mount JSON: appends to `mounts`. drop_namespace TYPE: no new namespace of TYPE. set_namespace TYPE PATH: join that of PATH.
add_mount() { config '.mounts += [$m]' --argjson m "$1"; }
drop_namespace() { config 'del(.linux.namespaces[] | select(.type == $t))' --arg t "$1"; }
set_namespace() {
  drop_namespace "$1"
  config '.linux.namespaces += [{type: $t, path: $p}]' --arg t "$1" --arg p "$2"
}

# user_namespace: adds a user namespace whose ids from 0 are the host's from 100000, and gives the rootfs to these ids.
user_namespace() {
  config '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
  chown -R 100000:100000 "$BUNDLE/rootfs"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
}

# needs_python MODULE: skips the test without this module, which is in no package that `./dev test` installs.
needs_python() { python3 -c "import $1" 2>/dev/null || skip "Python's module $1 is not installed"; }

# procps needs the time of the kernel's boot, which it does not find in User-Mode Linux.
needs_ps() { ps -ef >/dev/null 2>&1 || skip "ps -ef does not run on this host"; }

# kernel_is MAJOR MINOR: whether the kernel is at least this version.
kernel_is() {
  local major minor
  IFS=.- read -r major minor _ <<<"$(uname -r)"
  [[ $major -gt $1 || ($major == "$1" && $minor -ge $2) ]]
}
# fitting_processor: a processor on which the namespaces of a container count as younger than those of the caller. The kernel mounts a
# mount namespace only in an older one, and Linux 6.18 numbers the namespaces of each processor by themselves.
fitting_processor() {
  local place=$TMP/fitting processor
  mkdir -p "$place"
  mount -t tmpfs --make-private fitting "$place"
  touch "$place/mnt"
  for processor in $(seq 0 $(($(nproc) - 1))); do
    taskset -c "$processor" unshare --mount="$place/mnt" true 2>/dev/null && echo "$processor" && break
  done
  umount -R "$place"
}
# has_system_call NAME: false if the tests run under `lib/without NAME`, or on a kernel without it (of the calls that tests ask for,
# Linux 5.10 lacks only mount_setattr).
has_system_call() { [[ " ${OCIRUN_TEST_WITHOUT:-} " != *" $1 "* ]] && { [[ $1 != mount_setattr ]] || kernel_is 5 12; }; }
# needs_system_call NAME WHAT: skips the test of WHAT where the system call is missing.
needs_system_call() { has_system_call "$1" || skip "$2 needs $1"; }

# The tests' files lie in a tmpfs, which supports id-mapped mounts since Linux 6.3.
has_idmapped_tmpfs() { kernel_is 6 3 && has_system_call mount_setattr; }
needs_idmapped_tmpfs() { has_idmapped_tmpfs || skip "a tmpfs has id-mapped mounts since Linux 6.3"; }

needs_time_namespaces() { [[ -e /proc/self/ns/time ]] || skip "this kernel has no time namespaces"; }

# --- the runtime -----------------------------------------------------------------------------------

ocirun() { "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" "$@"; }

# OCIRUN_TEST_THROUGH=shim plays commands through containerd's shim: part advisories-shim. Otherwise THROUGH is empty.
THROUGH=()
if [[ ${OCIRUN_TEST_THROUGH:-} == shim ]]; then
  THROUGH=("$LIB/through-shim")
  export OCIRUN_TEST_SHIM=${OCIRUN%/*}/containerd-shim-ocirun-v2
fi

# by_runtime_alone REASON: skips the test where commands are played through the shim.
by_runtime_alone() { [[ ${#THROUGH[@]} == 0 ]] || skip "not through the shim: $1"; }

# create [OPTION…], start, run_container [OPTION…]: ocirun's commands for $BUNDLE and $ID. A created container keeps the
# descriptors of `create`, so that create's output goes to a file: bats' `run` would wait for the end of a pipe.
create() { ocirun create --bundle "$BUNDLE" "$@" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output; }
start() { ocirun start "$ID"; }
run_container() { run ocirun run --bundle "$BUNDLE" "$@" "$ID"; }

# attempt COMMAND…: like `run ocirun COMMAND`, but the output goes to a file: a container that outlives the command would hold the
# pipe of `run` open.
attempt() {
  status=0
  ocirun "$@" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
  output=$(<"$TMP/output")
}

# meets_a_delete_at INJECTION WORD…: like attempt, but deletes the container while strace delays the command at the system call of
# INJECTION (strace's --inject).
meets_a_delete_at() {
  strace -o "$TMP/trace" -e "trace=${1%%:*}" -e "inject=$1" "$OCIRUN" --root "$ROOT" "${@:2}" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  eventually test -s "$TMP/trace"
  ocirun delete --force "$ID"
  status=0
  wait $! || status=$?
  output=$(<"$TMP/output")
  rm "$TMP/trace"
}

# create_and_start [OPTION…]: the container runs when this returns.
create_and_start() {
  create "$@"
  start
}

# inside TEXT [OPTION…]: runs TEXT as the container's shell script; sets $status and $output (stdout and stderr in order).
inside() {
  script "exec 2>&1; $1"
  run_container "${@:2}"
}

# state KEY: prints a property of the container's state document. (jq needs forty milliseconds to start.)
state() {
  local document pattern=$'\n  "'$1$'": "?([^",\n]*)'
  document=$(ocirun state "$ID")
  [[ $document =~ $pattern ]] || { echo "no $1 in: $document"; return 1; }
  echo "${BASH_REMATCH[1]}"
}
init_pid() { state pid; }

# descriptors_of PID: prints each open descriptor with its file: "0 /dev/null".
descriptors_of() {
  local fd
  for fd in "/proc/$1/fd"/*; do echo "${fd##*/} $(readlink "$fd")"; done
}

show_output() {
  local rc=$?
  cat "$TMP/output"
  return "$rc"
}

# --- helpers that run beside a test ------------------------------------------------------------------

# has_ended PID: the process is gone or a zombie. It may go while its state is read.
has_ended() {
  local state
  read_state "$1"
  [[ $state != [!Z]* ]]
}

# read_state PID: sets $state to the letter of the process's state, and to nothing if there is no process.
read_state() {
  local key
  while read -r key state; do
    [[ $key != State: ]] || return 0
  done 2>/dev/null <"/proc/$1/status"
  state=
}

# waits PID: the process is blocked: it sleeps in all of six samples, 40 ms apart.
waits() {
  local state _
  for _ in 1 2 3 4 5 6; do
    read_state "$1"
    [[ $state == [SD]* ]] || return 1
    sleep 0.04
  done
}

# ends_by_term PID [STATUS]: sends SIGTERM to a child of this shell and checks its exit status (143): a child that ends by a time limit
# of its own has another status.
ends_by_term() {
  local rc=0
  kill -TERM "$1"
  eventually has_ended "$1"
  wait "$1" || rc=$?
  equal "${2:-143}" "$rc"
}

# helper COMMAND…: runs the command in the background; its pid is $HELPER. teardown kills it.
helper() {
  "$@" </dev/null >"$TMP/helper.log" 2>&1 3>&- 4>&- &
  HELPER=$!
  HELPERS+=("$HELPER")
}

stop_helpers() {
  local pid
  for pid in "${HELPERS[@]}"; do
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  HELPERS=()
}

# eventually COMMAND…: the command succeeds within two minutes. ocirun ends its own waits after ten seconds: a test that something
# else ends a wait must check the status or the message too.
eventually() { untraced wait_for "$@"; }

# The deadline is long enough for a busy machine: only a hang reaches it. A test file may define show_why, which prints details then.
wait_for() {
  local deadline=$((SECONDS + 120))
  until "$@"; do
    if [[ $SECONDS -ge $deadline ]]; then
      echo "never became true: $*"
      if declare -F show_why >/dev/null; then show_why; fi
      return 1
    fi
    sleep 0.04
  done
}

exists() { [[ -e $1 ]]; }
is_gone() { [[ ! -e $1 ]]; }
contains() { # FILE WORDS
  local text=
  [[ $# == 2 ]] || { echo "contains wants a file and words: output_mentions looks at \$output"; return 1; }
  read -rd '' text 2>/dev/null <"$1" || true
  [[ $text == *"$2"* ]]
}
status_is() { [[ $(ocirun state "$ID" 2>&1) == *"\"status\": \"$1\""* ]]; }

# delete_containers: deletes all containers of the state root by force.
delete_containers() {
  local dir
  for dir in "${ROOT:?}"/*/; do
    [[ -d $dir ]] || continue
    ocirun delete --force "$(basename "$dir")" || echo "delete --force failed: $dir"
  done
}
