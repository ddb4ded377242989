# shellcheck shell=bash
# Words for the clients' check lists. Each list is a script of its own, started by ./run in a sandbox with a private
# /run; it finds $RUNTIME (the path of the runtime under test), $RUNTIME_NAME and an empty directory $WORK.
set -uo pipefail
cd "$WORK" || exit 1 # a shim leaves a file "oom" where it is

PASSED=0 FAILED=0

# check TEXT COMMAND…: one line of the list. What the command printed is shown when it failed. It runs in this shell.
check() {
  local text=$1 status=0
  shift
  "$@" >"$WORK/output" 2>&1 </dev/null || status=$?
  if [[ $status == 0 ]]; then pass "$text"; else fail "$text" "status $status: $*" "$(<"$WORK/output")"; fi
}

# check_output TEXT EXPECTED COMMAND…: status 0 and exactly this on stdout.
check_output() {
  local text=$1 expected=$2 output
  shift 2
  if output=$("$@" 2>"$WORK/stderr" </dev/null) && [[ $output == "$expected" ]]; then
    pass "$text"
  else
    fail "$text" "expected: $expected" "found:    $output" "$(<"$WORK/stderr")"
  fi
}

# check_status TEXT STATUS COMMAND…
check_status() {
  local text=$1 expected=$2 output status=0
  shift 2
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [[ $status == "$expected" ]]; then pass "$text"; else fail "$text" "status $status instead of $expected: $*" "$output"; fi
}

# check_mentions TEXT WORDS COMMAND…: the words are somewhere in what it prints, whatever its status.
check_mentions() {
  local text=$1 words=$2 output
  shift 2
  output=$("$@" 2>&1 </dev/null) || true
  if [[ $output == *"$words"* ]]; then pass "$text"; else fail "$text" "expected somewhere: $words" "$output"; fi
}

pass() {
  PASSED=$((PASSED + 1))
  echo "ok: $ENGINE: $1"
}

fail() {
  FAILED=$((FAILED + 1))
  echo "FAILED: $ENGINE: $1"
  shift
  printf '%s\n' "$@" | sed 's/^/    /'
}

# eventually COMMAND…: within ten seconds.
eventually() { within 10 "$@"; }

# within SECONDS COMMAND…: succeeds sooner or later.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS <= end)) || return 1
    sleep 0.1
  done
}

# run_with_terminal COMMAND: what it prints on a terminal of its own, without carriage returns. Nobody types, but the
# keyboard stays open: at its end podman and conmon, whatever the runtime, sometimes drop what the program said.
run_with_terminal() {
  [[ -p $WORK/keyboard ]] || mkfifo -m 0666 "$WORK/keyboard"
  script -qec "$1" /dev/null 0<>"$WORK/keyboard" | tr -d '\r'
}

# --- cgroups -----------------------------------------------------------------------------------------------

# only_hierarchies TYPE: a /sys/fs/cgroup of the list's own with the mounted hierarchies of that type, a regular
# expression, and nothing else. Nothing is removed from the host's, which is one tmpfs for all namespaces.
only_hierarchies() {
  local own paths path
  mapfile -t paths < <(sed -nE "s|^([^ ]+ ){4}(/sys/fs/cgroup/[^ ]+) .* - ($1) .*|\2|p" /proc/self/mountinfo)
  own=$(mktemp -d "$WORK/cgroup.XXXXXX") && mount -t tmpfs -o mode=0755 tmpfs "$own" || return 1
  for path in "${paths[@]}"; do
    mkdir "$own/${path##*/}" && mount --bind "$path" "$own/${path##*/}" || return 1
  done
  umount --recursive /sys/fs/cgroup && mount --move "$own" /sys/fs/cgroup
}
[[ ${HIERARCHIES:-all} == all ]] || only_hierarchies "$HIERARCHIES" || exit 1

# --- daemons and images ----------------------------------------------------------------------------------

DAEMONS=()

# daemon NAME COMMAND…: in the background, its output in $WORK/NAME.log; ended by end_list.
daemon() {
  local name=$1
  shift
  "$@" >"$WORK/$name.log" 2>&1 </dev/null &
  DAEMONS+=($!)
}

# stop_daemon: the last that was started; asked first, killed after ten seconds.
stop_daemon() {
  local pid=${DAEMONS[-1]} tries
  unset 'DAEMONS[-1]'
  kill -TERM "$pid" 2>/dev/null || return 0
  for ((tries = 0; tries < 100; tries++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

# rootfs DIR: busybox with all its applets, an ordinary user, and directories to mount on.
rootfs() {
  mkdir -p "$1"/{bin,etc,tmp,root,home/user,proc,sys,dev,run,var,mnt}
  cp "$(command -v busybox)" "$1/bin/busybox"
  "$1/bin/busybox" --list | grep -vx busybox | while read -r applet; do ln -s busybox "$1/bin/$applet"; done
  echo 'root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/home/user:/bin/sh' >"$1/etc/passwd"
  echo 'root:x:0:
user:x:1000:
extra:x:2000:user' >"$1/etc/group"
  echo 'data' >"$1/etc/noexec"
  chmod 1777 "$1/tmp"
}

# image_archive: a tar of the rootfs, made once.
image_archive() {
  [[ -e $WORK/image.tar ]] || {
    rootfs "$WORK/image"
    tar -C "$WORK/image" -cf "$WORK/image.tar" .
  }
  echo "$WORK/image.tar"
}

# --- the end ---------------------------------------------------------------------------------------------

# What must not be left: processes that still run the runtime, and its states.
no_state_left() {
  local left
  left=$(find /run/ocirun /run/runc /run/crun -mindepth 1 -maxdepth 1 2>/dev/null)
  [[ -z $left ]] || { echo "left: $left" && return 1; }
}
no_mount_of_containers_left() { ! grep -E "$WORK.*(merged|rootfs)" /proc/self/mountinfo; }

end_list() {
  while [[ ${#DAEMONS[@]} != 0 ]]; do stop_daemon; done
  echo "$PASSED passed, $FAILED failed"
  [[ $FAILED == 0 ]]
}
