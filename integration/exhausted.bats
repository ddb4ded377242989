# Environments that lack something: disk space, descriptors, memory, streams, signals, /proc, cgroups, /dev/null. Each command does its
# work or says why it cannot, and leaves nothing behind. A container whose processes cannot be seen is not taken for dead, and a closed
# standard stream is not confused with a file that gets its number.
# shellcheck disable=SC2016 # what is quoted runs in containers
load lib/common

# limited_by LIMIT=N COMMAND…: runs ocirun with this limit (prlimit). Its output goes through a pipe, because RLIMIT_FSIZE limits files.
limited_by() {
  status=0
  local reader
  coproc READER { timeout 20 cat >"$TMP/output" 3>&- 4>&-; }
  reader=$READER_PID
  timeout --foreground -k 1 20 prlimit "--$1" "$OCIRUN" --root "$ROOT" "${@:2}" </dev/null >&"${READER[1]}" 2>&1 3>&- 4>&- || status=$?
  eval "exec ${READER[1]}>&-"
  wait "$reader" || true
  output=$(<"$TMP/output")
}

# answers [WORDS]: the command has succeeded, or failed with a message of ocirun in one line; it has neither crashed nor timed out.
answers() {
  if [[ $status == 0 ]]; then return 0; fi
  [[ $status == 1 || $status == 255 ]] || { fail_with_output; return 1; }
  [[ $output == ocirun:\ * && $output != *$'\n'* ]] || { fail_with_output; return 1; }
  [[ $# == 0 ]] || output_mentions "$1"
}

# nothing_is_left: a command that failed has left nothing on the host.
nothing_is_left() { untraced host_is_unchanged || { print_host_changes; fail_with_output; }; }

# run_limited LIMIT=N: `run` with this limit succeeds or gives a message, and leaves nothing.
run_limited() {
  limited_by "$1" run --bundle "$BUNDLE" "$ID"
  answers || { echo "at $1" && return 1; }
  nothing_is_left || { echo "at $1" && return 1; }
}

is_not_taken_for_dead() { [[ ! $output =~ (a stopped|is stopped|not running|\"stopped\"|\ stopped\ ) ]] || fail_with_output; }

# each_command LIMIT=N…: every command, with each limit, on a running container, which must not change.
each_command() {
  local limit command
  for limit in "$@"; do
    for command in "state $ID" list "exec $ID true" "ps --format json $ID" "pause $ID" "update --pids-limit 30 $ID" "kill $ID CONT" \
      "events --stats $ID" "delete $ID" "start $ID"; do
      # shellcheck disable=SC2086 # words
      limited_by "$limit" $command
      answers || { echo "$command at $limit" && return 1; }
      is_not_taken_for_dead || { echo "$command at $limit" && return 1; }
      output_never_mentions "--force $ID" || { echo "$command at $limit" && return 1; }
      if [[ $command == pause* && $status == 0 ]]; then ocirun resume "$ID"; fi
    done
    status_is running
  done
}

# deleted_under LIMIT…: `delete --force` removes everything or says why it cannot.
deleted_under() {
  local limit pid
  for limit in "$@"; do
    create
    pid=$(init_pid)
    limited_by "$limit" delete --force "$ID"
    answers
    if [[ $status == 0 ]]; then
      [[ ! -e $ROOT/$ID ]] || { echo "at $limit" && fail_with_output; }
      eventually is_gone "/proc/$pid" || { echo "at $limit" && fail_with_output; }
    else
      ocirun delete --force "$ID"
    fi
    nothing_is_left
  done
}

without_rlimits() { config 'del(.process.rlimits)'; }

# --- limits of the caller ---------------------------------------------------------------------------

@test "RLIMIT_NOFILE from 3: run works or says that there are too many open files, and leaves nothing" {
  local number failures=0
  without_rlimits
  program true
  for number in {3..64}; do
    run_limited nofile="$number"
    if [[ $status != 0 ]]; then
      output_mentions "too many open files"
      failures=$((failures + 1))
    fi
  done
  [[ $failures -gt 10 && $status == 0 ]] || { echo "$failures failures, the last status $status" && return 1; }
}

@test "RLIMIT_NOFILE from 3: no command takes a running container for another, and delete --force removes all or nothing" {
  local number
  without_rlimits
  create_and_start
  for number in {3..12} 16 24; do each_command nofile="$number"; done
  ocirun delete --force "$ID"
  for number in {3..14}; do deleted_under nofile="$number"; done
}

@test "RLIMIT_FSIZE: a file that cannot be written is an error, not a signal" {
  local size
  program true
  for size in 0 1 100 1000 2000 4000; do
    run_limited fsize="$size"
    [[ $status == 0 ]] || output_mentions "file too large"
  done
  program sleep 1000
  create_and_start
  for size in 0 100 1000; do each_command fsize="$size"; done
  limited_by fsize=0 update --pids-limit 31 "$ID"
  exits 1 "file too large"
  limited_by fsize=0 delete --force "$ID"
  succeeds
}

@test "RLIMIT_AS and RLIMIT_DATA: out of memory is an error, and the steps so far are undone" {
  local size kind said=0
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["kexec_load"], action: "SCMP_ACT_ERRNO"}]}'
  without_rlimits
  program true
  config '.annotations = ([range(2000) | {"org.example.\(.)": "value"}] | add)' # needs more memory than the start of ocirun
  for kind in as data; do
    for ((size = $(least_memory "$kind"); ; size += 20480)); do
      run_limited "$kind=$size"
      if [[ $status == 0 ]]; then break; fi
      if [[ $output == *"cannot allocate memory"* ]]; then said=$((said + 1)); fi
    done
  done
  [[ $said -gt 0 ]] || { echo "memory was never short" && return 1; }
}

# least_memory KIND: prints the least limit with which ocirun starts. With less, the loader fails, not ocirun.
least_memory() {
  local size
  for ((size = 102400; ; size += 20480)); do
    if prlimit "--$1=$size" "$OCIRUN" --version >/dev/null 2>&1 3>&- 4>&-; then break; fi
  done
  echo "$size"
}

@test "RLIMIT_STACK of 64 KiB is enough" {
  program true
  run_limited stack=65536
  succeeds
}

# --- state roots that take nothing ------------------------------------------------------------------

# small_root OPTIONS: mounts a tmpfs with these options on the state root.
small_root() {
  mkdir -p "$ROOT"
  mount -t tmpfs -o "mode=700,$1" tmpfs "$ROOT"
}

@test "a state root of any small size: create makes a container or leaves nothing" {
  local options created=0 refused=0
  mkdir -p "$ROOT"
  for options in size=4k size=8k size=12k size=16k size=24k size=64k nr_inodes={2..9}; do
    small_root "$options"
    attempt create --bundle "$BUNDLE" "$ID"
    if [[ $status == 0 ]]; then
      created=$((created + 1))
      ocirun delete --force "$ID"
    else
      refused=$((refused + 1))
      exits 1 "no space left on device"
      answers
    fi
    equal "" "$(ls -A "$ROOT")"
    equal "" "$(cgroups "$ID")"
    umount "$ROOT"
  done
  [[ $created -gt 0 && $refused -gt 0 ]] || { echo "$created created, $refused refused" && return 1; }
}

@test "a state root that is full: the container can still be used, and deleted" {
  small_root size=256k,nr_inodes=40
  create
  head -c 1M /dev/zero >"$ROOT/.full" 2>/dev/null || true
  while : 2>/dev/null >"$ROOT/.full.$RANDOM"; do :; done
  start
  status_is running
  run ocirun exec "$ID" echo entered
  succeeds entered
  attempt update --pids-limit 30 "$ID"
  exits 1 "no space left on device"
  limited pids pids.max=100 pids.max=100 || limited pids pids.max=max pids.max=max
  ocirun pause "$ID"
  ocirun resume "$ID"
  attempt create --bundle "$BUNDLE" "$ID-other"
  exits 1 "no space left on device"
  [[ ! -e $ROOT/$ID-other ]]
  run ocirun list --quiet
  succeeds "$ID"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
  [[ ! -e $ROOT/$ID ]]
  umount "$ROOT"
}

@test "a state root that became read-only: what only looks and signals works, the rest says so" {
  small_root size=256k
  create_and_start
  mount -o remount,ro "$ROOT"
  status_is running
  run ocirun list --quiet
  succeeds "$ID"
  run ocirun exec "$ID" echo entered
  succeeds entered
  attempt update --pids-limit 30 "$ID"
  exits 1 "read-only file system"
  attempt create --bundle "$BUNDLE" "$ID-other"
  exits 1 "read-only file system"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  attempt delete "$ID"
  exits 1 "read-only file system"
  mount -o remount,rw "$ROOT"
  ocirun delete --force "$ID"
  umount "$ROOT"
}

# --- streams ------------------------------------------------------------------------------------------

# with_closed STREAMS COMMAND…: runs ocirun with these of the streams 0, 1 and 2 closed; the others are files.
with_closed() {
  local redirections='</dev/null >"$TMP/out" 2>"$TMP/err"' stream
  for stream in $1; do redirections+=" $stream>&-"; done
  status=0
  eval 'timeout --foreground -k 1 20 "$OCIRUN" --root "$ROOT" "${@:2}" 3>&- 4>&- '"$redirections" || status=$?
}

CLOSED=("0" "1" "2" "0 1" "0 2" "1 2" "0 1 2")

@test "standard streams that are closed become /dev/null, never a file of ours: create, start, exec, run and a hook" {
  local closed pid
  config '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "exec ls -l /proc/self/fd >\($f)"], env: ["PATH=/bin"]}]' --arg f "$TMP/hook"
  for closed in "${CLOSED[@]}"; do
    program sleep 1000
    with_closed "$closed" create --bundle "$BUNDLE" "$ID"
    equal 0 "$status"
    pid=$(init_pid)
    streams_are "$closed" "$pid"
    only_streams_and_files "$TMP/hook"
    with_closed "$closed" start "$ID"
    equal 0 "$status"
    streams_are "$closed" "$pid"
    with_closed "$closed" exec --detach --pid-file "$TMP/exec.pid" "$ID" sleep 1000
    equal 0 "$status"
    streams_are "$closed" "$(<"$TMP/exec.pid")"
    equal "0 1 2" "$(find "/proc/$(<"$TMP/exec.pid")/fd" -type l -printf '%f\n' | sort | xargs)"
    with_closed "$closed" delete --force "$ID"
    equal 0 "$status"
    program echo told
    with_closed "$closed" run --bundle "$BUNDLE" "$ID"
    equal 0 "$status"
    if [[ " $closed " != *" 1 "* ]]; then equal told "$(<"$TMP/out")"; else equal "" "$(<"$TMP/out")"; fi
    equal "" "$(cat "$TMP/err")"
  done
}

# streams_are CLOSED PID: in the process, the streams that were closed are /dev/null, and the others are the caller's files.
streams_are() {
  local stream
  for stream in $1; do equal "1:3" "$(stat -L -c %t:%T "/proc/$2/fd/$stream")"; done
  [[ " $1 " == *" 1 "* ]] || equal "$TMP/out" "$(readlink "/proc/$2/fd/1")"
  [[ " $1 " == *" 2 "* ]] || equal "$TMP/err" "$(readlink "/proc/$2/fd/2")"
}

# only_streams_and_files LISTING: the process had no descriptors but 0, 1, 2 and the one with which it listed /proc/PID/fd.
only_streams_and_files() { equal "" "$(grep -vE ' [012] -> | 3 -> /proc/[0-9]+/fd$|^total' "$1")"; }

@test "commands that print say that they cannot when stdout is closed, full or a pipe without a reader" {
  create
  run bash -c '"$1" --root "$2" list >/dev/full' bash "$OCIRUN" "$ROOT"
  exits 1 "stdout: write: no space left on device"
  mkfifo "$TMP/unread"
  run bash -c 'trap "" PIPE; exec 8<>"$4" 9>"$4" 8>&-; "$1" --root "$2" state "$3" >&9; echo "status $?"' bash "$OCIRUN" "$ROOT" "$ID" "$TMP/unread"
  output_mentions "stdout: write: broken pipe"
  output_mentions "status 1"
  with_closed 1 state "$ID"
  equal 0 "$status"
}

@test "without /dev/null, or with another file there, closed streams are refused and open ones are no matter" {
  local way
  install -d -m 700 "$ROOT"
  for way in missing file link; do
    run unshare --mount bash -c '
      mount -t tmpfs tmpfs /dev
      case $1 in file) echo text >/dev/null ;; link) ln -s /etc/passwd /dev/null ;; esac
      "$2" --root "$3" list && exec 0<&- && "$2" --root "$3" create --bundle "$4" "$5"' bash "$way" "$OCIRUN" "$ROOT" "$BUNDLE" "$ID"
    exits 1 "descriptor 0 is closed"
    output_mentions /dev/null
  done
  nothing_is_left
}

# --- signals ------------------------------------------------------------------------------------------

# unfriendly COMMAND…: runs the command with all signals ignored and blocked, as far as the kernel allows.
unfriendly() {
  timeout -k 1 30 python3 -c '
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])' "$OCIRUN" --root "$ROOT" "$@"
}

NO_SIGNALS='SigBlk:	0000000000000000
SigIgn:	0000000000000000
SigCgt:	0000000000000000'

@test "a caller who ignores and blocks every signal: run, exec and hooks start with none ignored, and all ends are noticed" {
  config '.hooks = {createRuntime: [{path: "/bin/grep", args: ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"], timeout: 5}],
    poststart: [{path: "/bin/true"}], poststop: [{path: "/bin/sh", args: ["sh", "-c", "grep -E ^Sig.*: /proc/self/status >\($f)"], timeout: 5}]}' --arg f "$TMP/hook"
  program grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
  run unfriendly run --bundle "$BUNDLE" "$ID"
  succeeds "$NO_SIGNALS"
  program sleep 1000
  unfriendly create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  unfriendly start "$ID"
  run unfriendly exec "$ID" grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
  succeeds "$NO_SIGNALS"
  run unfriendly exec "$ID" sh -c 'exit 7'
  exits 7
  run unfriendly ps "$ID"
  succeeds
  unfriendly kill "$ID" TERM
  unfriendly kill "$ID" KILL
  eventually status_is stopped
  unfriendly delete "$ID"
  contains "$TMP/hook" "SigBlk:	0000000000000000"
}

@test "nohup: a hangup that the caller ignores ends neither run nor its container" {
  nohup "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=($!)
  eventually status_is running
  kill -HUP $!
  sleep 0.2
  status_is running
  kill -TERM "$(init_pid)" || true
  ocirun kill "$ID" KILL
  wait $! || true
}

# --- the host -----------------------------------------------------------------------------------------

# beneath SETUP COMMAND…: runs ocirun in a mount namespace that the shell command SETUP has changed.
beneath() {
  status=0
  timeout -k 1 30 unshare --mount bash -c 'eval "$1"; shift; exec "$@"' bash "$1" "$OCIRUN" --root "$ROOT" "${@:2}" \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
  output=$(<"$TMP/output")
}

# The sandbox has a pid namespace of its own. Below the sandbox's /proc lies the host's, where the same pids are other processes.
@test "without /proc, with a tmpfs over it, or with the /proc of another pid namespace, nothing is made and no running container is taken for stopped" {
  local way command
  create_and_start
  config 'del(.linux.cgroupsPath)' # for the containers $ID-other
  for way in 'while umount -l /proc 2>/dev/null; do :; done' 'umount -l /proc' 'mount -t tmpfs tmpfs /proc'; do
    for command in "run --bundle $BUNDLE $ID-other" "create --bundle $BUNDLE $ID-other"; do
      # shellcheck disable=SC2086 # words
      beneath "$way" $command
      exits 1 /proc
      answers
      [[ ! -e $ROOT/$ID-other ]] || fail_with_output
    done
    for command in "exec $ID true" "delete $ID" "kill $ID KILL" "delete --force $ID" "state $ID"; do
      # shellcheck disable=SC2086 # words
      beneath "$way" $command
      answers
      is_not_taken_for_dead
    done
    status_is running
  done
}

@test "with a /proc that hides processes (hidepid=2, subset=pid) root has all its commands" {
  local way
  for way in hidepid=2 subset=pid; do
    create_and_start
    beneath "mount -t proc -o $way proc /proc" state "$ID"
    succeeds
    output_mentions '"status": "running"'
    beneath "mount -t proc -o $way proc /proc" exec "$ID" echo entered
    answers
    beneath "mount -t proc -o $way proc /proc" delete --force "$ID"
    succeeds
    script 'echo made'
    beneath "mount -t proc -o $way proc /proc" run --bundle "$BUNDLE" "$ID"
    answers
    nothing_is_left
    program sleep 1000
  done
}

@test "without /sys/fs/cgroup create says what it lacks, and with --cgroup-manager disabled a container is made" {
  program echo made
  beneath 'mount -t tmpfs tmpfs /sys/fs/cgroup; umount -l /sys/fs/cgroup; umount -R -l /sys' create --bundle "$BUNDLE" "$ID"
  exits 1
  answers cgroup
  config 'del(.linux.resources, .linux.cgroupsPath) | .mounts |= map(select(.type != "cgroup" and .type != "sysfs"))'
  beneath 'umount -R -l /sys' --cgroup-manager disabled run --bundle "$BUNDLE" "$ID"
  succeeds made
}

@test "an empty environment, a umask of 0 or 0777 and a working directory that is gone make no difference" {
  local mask
  script 'umask; test -d "$HOME" && echo home; touch /tmp/mine; stat -c %a /tmp/mine'
  run env -i "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  exits 0 home
  for mask in 0 0777; do
    # shellcheck disable=SC2016 # bash's
    bash -c 'umask "$1" && shift && exec "$@"' bash "$mask" "$OCIRUN" --root "$ROOT-$mask" create --bundle "$BUNDLE" \
      --pid-file "$TMP/pid.$mask" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
    equal 700 "$(stat -c %a "$ROOT-$mask")"
    equal 700 "$(stat -c %a "$ROOT-$mask/$ID")"
    equal 644 "$(stat -c %a "$TMP/pid.$mask")"
    equal 600 "$(stat -c %a "$ROOT-$mask/$ID/state.json")"
    "$OCIRUN" --root "$ROOT-$mask" delete --force "$ID"
  done
  program echo made
  mkdir "$TMP/gone"
  run bash -c 'cd "$1/gone" && rmdir ../gone && shift && exec "$@"' bash "$TMP" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds made
  mkdir "$TMP/gone"
  run bash -c 'cd "$1/gone" && rmdir ../gone && shift && exec "$@"' bash "$TMP" "$OCIRUN" --root "$ROOT" run "$ID"
  exits 1 config.json
}
