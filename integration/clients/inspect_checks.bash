# shellcheck shell=bash
# Drift made by hand in an engine's container, and found by `ocirun inspect`. For the lists of engines: source it, and
# `check_inspection ID` with the id of a running container that the engine has started with a memory limit, a read-only bind of
# $WORK/shown on /shown, and a bind of $WORK/note on /etc/note. `traced COMMAND…` starts a daemon, whose containers then have timelines.

inspect_setup() {
  mkdir -p "$WORK/shown"
  echo old >"$WORK/note"
}

# traced COMMAND…: the command with the directory for timelines, which engines hand down to ocirun.
traced() { mkdir -p "$WORK/traces" && OCIRUN_TRACE=$WORK/traces "$@"; }
# The newest `create` has a timeline.
has_timeline() {
  local files
  files=("$WORK"/traces/*-create-*.json)
  "$RUNTIME" trace "${files[-1]}" | grep "make init"
}

# check_inspection ID: the container has no drift; each kind of drift is found. Other runtimes cannot inspect.
check_inspection() {
  [[ $("$RUNTIME" --version) == ocirun* ]] || { skip "inspect" "not ocirun" && return; }
  local directory
  directory=$(find /run -type d -name "$1*" -exec test -e {}/state.json \; -print -quit)
  INSPECTED=${directory##*/} INSPECT_ROOT=${directory%/*}
  INSPECTED_PID=$("$RUNTIME" --root "$INSPECT_ROOT" state "$INSPECTED" | jq .pid)
  [[ ! -d $WORK/traces ]] || check "trace: OCIRUN_TRACE of the daemon gives timelines" has_timeline
  check "inspect: no drift as the engine has started the container" as_asked
  check "inspect: twenty kinds of drift are found" drifts_are_found
}

inspect_drift() { "$RUNTIME" --root "$INSPECT_ROOT" inspect --drift "$INSPECTED"; }
as_asked() { inspect_drift; }
# drifts WORDS: inspect finds drift, and a line has the words.
drifts() {
  local output status=0
  output=$(inspect_drift) || status=$?
  [[ $status == 3 && $output == *"$1"* ]] && KINDS=$((KINDS + 1)) && return
  echo "status $status, not found: $1" && echo "$output"
  return 1
}
inside() { nsenter --target "$INSPECTED_PID" --mount --pid --root --wd /bin/busybox "$@"; }
# group CONTROLLER: prints the directory of the container's cgroup.
group() {
  local path
  path=$(sed -nE "s/^[0-9]+:([^:]*,)?$1(,[^:]*)?://p" "/proc/$INSPECTED_PID/cgroup")
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then path=$(sed -n 's/^0:://p' "/proc/$INSPECTED_PID/cgroup") && echo "/sys/fs/cgroup$path"; else echo "/sys/fs/cgroup/$1$path"; fi
}
# written CONTROLLER FILE VALUE: drift by a value that somebody writes, and back.
written() {
  local file old
  file=$(group "$1")/$2
  old=$(<"$file")
  echo "$3" >"$file" && drifts "$2" && echo "${old:-"$4"}" >"$file"
}

drifts_are_found() {
  local KINDS=0 v2='' group
  [[ ! -e /sys/fs/cgroup/cgroup.controllers ]] || v2=yes
  if [[ -n $v2 ]]; then
    written memory memory.max 33554432 && written memory memory.high 33554432 && written memory memory.low 4096 &&
      written cpu cpu.weight 77 && written cpu cpu.max "50000 100000" || return 1
  else
    written memory memory.limit_in_bytes 33554432 && written memory memory.soft_limit_in_bytes 33554432 &&
      written cpu cpu.shares 777 && written cpu cpu.cfs_quota_us 50000 || return 1
    group=$(group devices)
    echo "b 8:0 r" >"$group/devices.allow" && drifts "/linux/resources/devices" && echo "b 8:0 r" >"$group/devices.deny" || return 1
    echo "$INSPECTED_PID" >/sys/fs/cgroup/pids/cgroup.procs && drifts "found / in pids" || return 1
    echo "$INSPECTED_PID" >"$(group memory | sed 's|/memory/|/pids/|')/cgroup.procs" || return 1
  fi
  written pids pids.max 77 || return 1
  inside mkdir -p /added && inside mount -t tmpfs added /added && drifts "mount /added" && inside umount /added || return 1
  inside mount -o remount,bind,rw /shown && drifts "/shown" && inside mount -o remount,bind,ro /shown || return 1
  inside mount -o remount,bind,suid,nodev,noexec /dev/shm && drifts "/dev/shm" && inside mount -o remount,bind,nosuid,nodev,noexec /dev/shm || return 1
  inside mount -o remount,bind,nosuid,nodev,exec /dev/shm && drifts "/dev/shm" && inside mount -o remount,bind,nosuid,nodev,noexec /dev/shm || return 1
  inside mount -o remount,bind,nosuid,dev,noexec /dev/shm && drifts "/dev/shm" && inside mount -o remount,bind,nosuid,nodev,noexec /dev/shm || return 1
  inside mount -t tmpfs -o nosuid,nodev,noexec over /dev/shm && drifts "over the mount of the document" && inside umount /dev/shm || return 1
  inside mount --make-shared /dev/shm && drifts "shared" && inside mount --make-private /dev/shm || return 1
  inside umount /proc/keys && drifts "/linux/maskedPaths /proc/keys" && inside mount --bind /dev/null /proc/keys || return 1
  inside umount /proc/sys && drifts "/linux/readonlyPaths /proc/sys" && inside mount --bind /proc/sys /proc/sys &&
    inside mount -o remount,bind,ro /proc/sys || return 1
  inside mv /dev/full /dev/kept && drifts "/dev/full" || return 1
  inside mknod /dev/full c 1 5 && drifts "found c 1:5" && inside mv /dev/kept /dev/full || return 1
  sleep 1000 &
  local stranger=$!
  for group in $(sed -E 's/^[0-9]+:([^:]*):(.*)/\1 \2/; s/^ /unified /' "/proc/$INSPECTED_PID/cgroup" | while read -r controllers path; do
    if [[ -n $v2 ]]; then echo "/sys/fs/cgroup$path"; else echo "/sys/fs/cgroup/${controllers#name=}$path"; fi
  done); do
    [[ ! -e $group/cgroup.procs ]] || echo "$stranger" >"$group/cgroup.procs" || return 1
  done
  drifts "process $stranger" || return 1
  kill -KILL "$stranger" && wait "$stranger" 2>/dev/null
  inside umount /shown && drifts "nothing is mounted there" || return 1
  echo new >"$WORK/note.new" && mv "$WORK/note.new" "$WORK/note"
  drifts "whose source was removed or replaced" || return 1
  echo "$KINDS kinds"
  [[ $KINDS -ge 20 ]]
}
