# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# What every test file loads: `load lib/common`.
#
# A test finds ready: $ID (a container id), $BUNDLE (a busybox bundle that runs `sleep 1000`),
# $ROOT (a private state root, not yet made), $TMP (a scratch directory). When it ends, its containers
# are deleted by force, and the host must look as it did before: lib/host.bash.

bats_require_minimum_version 1.5.0
LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd "$LIB/../.." && pwd)
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
  [[ ${OCIRUN_TEST_SANDBOX:-} == 1 ]] || abort "run me by ./dev bats FILE…, which makes a sandbox"
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
  untraced compare_host || return # not left to errexit, which bats takes away here
  free_memory
}

# free_memory: what a test that passed has written lies in a tmpfs; the bundles of hundreds fill a small machine.
free_memory() {
  [[ ${BATS_TEST_COMPLETED:-} == 1 ]] || return 0
  cd "$BATS_RUN_TMPDIR" || return
  rm -rf --one-file-system "${TMP:?}" || true
}

# untraced FUNCTION…: without bats' DEBUG trap, which makes a loop a hundred times slower.
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

# make_bundle DIR: a bundle of its own with a busybox rootfs; cgroupsPath carries the test's id.
make_bundle() {
  mkdir -p "$1"
  cp -a "$(busybox_rootfs)" "$1/rootfs"
  sed 's|^  "linux": {|&"cgroupsPath": "/'"$ID"'",|' "$LIB/config.json" >"$1/config.json"
}

# The one rootfs that all bundles are copied from, made when it is first asked for.
busybox_rootfs() {
  local dir=$BATS_RUN_TMPDIR/busybox
  if [[ ! -e $dir ]]; then
    mkdir -p "$dir.new"/{bin,dev,etc,proc,root,run,sys,usr/bin,var}
    mkdir -m 1777 "$dir.new/tmp"
    cp "$(command -v busybox)" "$dir.new/bin/busybox"
    chroot "$dir.new" /bin/busybox --install -s /bin
    printf '%s\n' root:x:0:0:root:/root:/bin/sh bin:x:1:1:bin:/bin:/bin/sh web:x:1000:1000::/home/web:/bin/sh \
      >"$dir.new/etc/passwd"
    printf '%s\n' root:x:0: tty:x:5: web:x:1000: >"$dir.new/etc/group"
    mv "$dir.new" "$dir"
  fi
  echo "$dir"
}

# config FILTER [JQ OPTION…]: edits $BUNDLE/config.json.
config() {
  jq "$1" "$BUNDLE/config.json" "${@:2}" >"$BUNDLE/config.new"
  mv "$BUNDLE/config.new" "$BUNDLE/config.json"
}

# program WORD…: what the container runs. script TEXT: the same for a piece of shell.
program() { config '.process.args = $ARGS.positional' --args -- "$@"; }
script() { program sh -c "$1"; }

# capabilities NAME…: grants them (bounding, effective, permitted).
capabilities() {
  config '.process.capabilities = ($ARGS.positional | {bounding: ., effective: ., permitted: .})' --args -- "$@"
}

# add_mount JSON: appends to `mounts`. drop_namespace TYPE, set_namespace TYPE PATH.
add_mount() { config '.mounts += [$m]' --argjson m "$1"; }
drop_namespace() { config 'del(.linux.namespaces[] | select(.type == $t))' --arg t "$1"; }
set_namespace() {
  drop_namespace "$1"
  config '.linux.namespaces += [{type: $t, path: $p}]' --arg t "$1" --arg p "$2"
}

# user_namespace: maps container ids from 0 to host ids from 100000.
user_namespace() {
  config '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
  chown -R 100000:100000 "$BUNDLE/rootfs"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
}

# procps wants to know when the kernel was booted, and does not find out in User-Mode Linux.
needs_ps() { ps -ef >/dev/null 2>&1 || skip "ps -ef does not run on this host"; }

# has_system_call NAME: lib/without makes kernels that lack one.
has_system_call() { [[ " ${OCIRUN_TEST_WITHOUT:-} " != *" $1 "* ]]; }
# needs_system_call NAME WHAT
needs_system_call() { has_system_call "$1" || skip "$2 needs $1"; }

# The tests' files lie in a tmpfs.
has_idmapped_tmpfs() {
  local major minor
  IFS=.- read -r major minor _ <<<"$(uname -r)"
  [[ $major -gt 6 || ($major == 6 && $minor -ge 3) ]] && has_system_call mount_setattr
}
needs_idmapped_tmpfs() { has_idmapped_tmpfs || skip "a tmpfs has id-mapped mounts since Linux 6.3"; }

needs_time_namespaces() { [[ -e /proc/self/ns/time ]] || skip "this kernel has no time namespaces"; }

# --- the runtime -----------------------------------------------------------------------------------

ocirun() { timeout --foreground -k 2 60 "$OCIRUN" --root "$ROOT" "$@"; }

# create [OPTION…], start, run_container [OPTION…]: on $BUNDLE and $ID. A created container keeps the
# descriptors of `create`, so its output goes to a file: `run` would wait for the end of a pipe.
create() { ocirun create --bundle "$BUNDLE" "$@" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output; }
start() { ocirun start "$ID"; }
run_container() { run ocirun run --bundle "$BUNDLE" "$@" "$ID"; }

# attempt COMMAND…: like `run ocirun COMMAND`, for what may leave a container behind that holds the pipe of `run`.
attempt() {
  status=0
  ocirun "$@" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
  output=$(<"$TMP/output")
}

# meets_a_delete_at INJECTION WORD…: attempt, of a command whose container is deleted while strace holds it up there.
meets_a_delete_at() {
  strace -o "$TMP/trace" -e "trace=${1%%:*}" -e "inject=$1" "$OCIRUN" --root "$ROOT" "${@:2}" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  eventually test -s "$TMP/trace"
  ocirun delete --force "$ID"
  status=0
  wait $! || status=$?
  output=$(<"$TMP/output")
  rm "$TMP/trace"
}

# create_and_start: the container runs when it returns.
create_and_start() {
  create "$@"
  start
}

# inside TEXT [OPTION…]: runs it as the container's program; $status and $output (stderr too, in order) are its own.
inside() {
  script "exec 2>&1; $1"
  run_container "${@:2}"
}

# state [KEY]: of the container, or one property of it.
state() { ocirun state "$ID" | jq -r ".${1:-}"; }
init_pid() { state pid; }

# descriptors_of PID: numbers and what they stand for.
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

# has_ended PID: also one that nobody has waited for yet.
has_ended() { [[ ! -e /proc/$1 || $(<"/proc/$1/status") == *"State:	Z"* ]]; }

# waits PID: it sleeps each time that we look, so it waits for something.
waits() {
  local state _
  for _ in 1 2 3 4 5 6; do
    state=$(sed -n 's/^State:\t//p' "/proc/$1/status" 2>/dev/null)
    [[ $state == [SD]* ]] || return 1
    sleep 0.04
  done
}

# ends_by_term PID [STATUS]: SIGTERM ends this child of the shell's, and not a limit of its own, which has another status.
ends_by_term() {
  local rc=0
  kill -TERM "$1"
  eventually has_ended "$1"
  wait "$1" || rc=$?
  equal "${2:-143}" "$rc"
}

# helper COMMAND…: in the background, killed in teardown at the latest; its pid is $HELPER.
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

# eventually COMMAND…: true within forty seconds. The product has limits of its own of ten: a test that something else
# ends a wait looks at the status or the words too.
eventually() { untraced wait_for "$@"; }

# The deadline is for what hangs, not for a busy machine. A file may have a show_why of its own.
wait_for() {
  local deadline=$((SECONDS + 40))
  until "$@"; do
    if [[ $SECONDS -ge $deadline ]]; then
      echo "never became true: $*"
      if declare -F show_why >/dev/null; then show_why; fi
      return 1
    fi
    sleep 0.02
  done
}

exists() { [[ -e $1 ]]; }
is_gone() { [[ ! -e $1 ]]; }
contains() { grep -qF -- "$2" "$1" 2>/dev/null; }
status_is() { [[ $(ocirun state "$ID" 2>&1 | jq -r .status 2>/dev/null) == "$1" ]]; }

# delete_containers: by force, all that the state root holds.
delete_containers() {
  local dir
  for dir in "${ROOT:?}"/*/; do
    [[ -d $dir ]] || continue
    ocirun delete --force "$(basename "$dir")" || echo "delete --force failed: $dir"
  done
}
