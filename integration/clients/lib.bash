# shellcheck shell=bash
# Functions for the engines' check lists. Each list is a script that ./run starts in a sandbox with a private /run or in a machine with
# systemd, with $RUNTIME (the path of the runtime under test), $RUNTIME_NAME, $CGROUP_DRIVER (cgroupfs or systemd), and an empty
# directory $WORK.
set -uo pipefail
cd "$WORK" || exit 1 # containerd's shim leaves a file "oom" in its working directory

PASSED=0 FAILED=0

# check TEXT COMMAND…: one check: the command, run in this shell, succeeds. If it fails, its output is shown.
check() {
  local text=$1 status=0
  shift
  "$@" >"$WORK/output" 2>&1 </dev/null || status=$?
  if [[ $status == 0 ]]; then pass "$text"; else fail "$text" "status $status: $*" "$(<"$WORK/output")"; fi
}

# check_output TEXT EXPECTED COMMAND…: the status is 0, and stdout is exactly EXPECTED.
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

# check_mentions TEXT WORDS COMMAND…: the output contains the words, whatever the status.
check_mentions() {
  local text=$1 words=$2 output
  shift 2
  output=$("$@" 2>&1 </dev/null) || true
  if [[ $output == *"$words"* ]]; then pass "$text"; else fail "$text" "expected somewhere: $words" "$output"; fi
}

# skip TEXT REASON: a check that this machine cannot make.
skip() { echo "skipped: $ENGINE: $1: $2"; }

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

# shim_options: prints what a shim is told in TOML.
shim_options() {
  printf 'BinaryName = "%s"\nSystemdCgroup = %s\n' "$RUNTIME" "$([[ $CGROUP_DRIVER == systemd ]] && echo true || echo false)"
}

# eventually COMMAND…: the command succeeds within a minute, which only a hang reaches.
eventually() { within 60 "$@"; }

# within SECONDS COMMAND…: the command succeeds within this time.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS <= end)) || return 1
    sleep 0.1
  done
}

# run_with_terminal COMMAND: runs it on a terminal of its own and prints its output without carriage returns. The terminal's
# input stays open, because at its end podman and conmon sometimes drop the program's output, with every runtime.
run_with_terminal() {
  [[ -p $WORK/keyboard ]] || mkfifo -m 0666 "$WORK/keyboard"
  script -qec "$1" /dev/null 0<>"$WORK/keyboard" | tr -d '\r'
}

# --- cgroups -----------------------------------------------------------------------------------------------

# only_hierarchies TYPE: mounts a new tmpfs on /sys/fs/cgroup with the mounted hierarchies of TYPE (a regular expression:
# cgroup, cgroup2) alone. The host's tmpfs stays as it is, because all mount namespaces share it.
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

# The files of limits, below /sys/fs/cgroup in a container with cgroups of its own.
if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
  CGROUP_VERSION=2
  declare -A LIMIT=([memory]=memory.max [reservation]=memory.low [pids]=pids.max [quota]=cpu.max [shares]=cpu.weight [cpus]=cpuset.cpus)
else
  CGROUP_VERSION=1
  declare -A LIMIT=([memory]=memory/memory.limit_in_bytes [reservation]=memory/memory.soft_limit_in_bytes [pids]=pids/pids.max
    [quota]=cpu/cpu.cfs_quota_us [shares]=cpu/cpu.shares [cpus]=cpuset/cpuset.cpus)
fi

# limit_inside NAME COMMAND…: prints the limit as the command sees it in its container. On cgroup v2 a quota has its period behind it.
limit_inside() { "${@:2}" cut -d' ' -f1 "/sys/fs/cgroup/${LIMIT[$1]}"; }

# limit_of NAME ID: prints the limit of the cgroup whose name contains ID.
limit_of() {
  local file=${LIMIT[$1]} hierarchy=''
  [[ $CGROUP_VERSION == 2 ]] || hierarchy=${file%%/*}
  cut -d' ' -f1 "$(find "/sys/fs/cgroup/$hierarchy" -type d -name "*$2*" -print -quit)/${file#*/}"
}

# has_shares NUMBER COMMAND…: checks the CPU shares of the command's container. A weight of cgroup v2 comes of 256 or 512 shares by the
# quadratic formula (35, 59), or by the linear one of runc before 1.3.2 and crun before 1.23 (10, 20).
has_shares() {
  local found
  found=$(limit_inside shares "${@:2}")
  case $CGROUP_VERSION:$RUNTIME_NAME:$1:$found in
    1:*:256:256 | 1:*:512:512 | 2:*:256:35 | 2:*:512:59 | 2:[cr]*:256:10 | 2:[cr]*:512:20) ;;
    *) echo "$1 shares became $found" && return 1 ;;
  esac
}

# check_limit NAME TEXT EXPECTED COMMAND…: as check_output with limit_inside(), if this machine has the controller.
check_limit() {
  if [[ $CGROUP_VERSION == 1 || " $(</sys/fs/cgroup/cgroup.controllers) " == *" ${LIMIT[$1]%%.*} "* ]]; then
    check_output "$2" "$3" limit_inside "$1" "${@:4}"
  else
    skip "$2" "the kernel has no controller ${LIMIT[$1]%%.*}"
  fi
}

# --- daemons and images ----------------------------------------------------------------------------------

DAEMONS=()

# daemon NAME COMMAND…: starts a daemon, with its output in $WORK/NAME.log. end_list ends it.
daemon() {
  local name=$1
  shift
  "$@" >"$WORK/$name.log" 2>&1 </dev/null &
  DAEMONS+=($!)
}

# stop_daemon: ends the daemon that was started last, by SIGTERM, and after ten seconds by SIGKILL.
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

# image_archive: prints the path of a tar archive of the rootfs; the first call makes it.
image_archive() {
  [[ -e $WORK/image.tar ]] || {
    rootfs "$WORK/image"
    tar -C "$WORK/image" -cf "$WORK/image.tar" .
  }
  echo "$WORK/image.tar"
}

# --- the end ---------------------------------------------------------------------------------------------

# no_state_left [DIRECTORY]: no runtime has left a container's state directory below DIRECTORY, which is /run by default. crun keeps files
# of its own, with a dot before their names.
no_state_left() {
  local left
  left=$(find "${1:-/run}"/{ocirun,runc,crun} -mindepth 1 -maxdepth 1 -not -path '*/crun/.*' 2>/dev/null)
  [[ -z $left ]] || { echo "left: $left" && return 1; }
}
no_mount_of_containers_left() { ! grep -E "$WORK.*(merged|rootfs)" /proc/self/mountinfo; }

end_list() {
  while [[ ${#DAEMONS[@]} != 0 ]]; do stop_daemon; done
  echo "$PASSED passed, $FAILED failed"
  [[ $FAILED == 0 ]]
}
