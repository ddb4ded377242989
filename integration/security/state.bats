# Attacks on records, state roots, files of the image that the runtime reads, and running commands.
# shellcheck disable=SC2016 # what is quoted runs in containers, or is jq's
load harness

# Through the shim, one of these tests is another: Start waits for the hook, and Kill and Delete come beside it.
setup() {
  [[ $BATS_TEST_DESCRIPTION == "a startContainer hook of the image that never ends cannot"* ]] ||
    by_runtime_alone "records, state roots and signals are matters of the runtime's commands, which the shim executes as they are"
  security_setup
}

@test "an image's passwd that is a fifo or endless does not hang create" {
  rm "$BUNDLE/rootfs/etc/passwd"
  mkfifo "$BUNDLE/rootfs/etc/passwd"
  script 'echo fine'
  run timeout 20 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  [[ $status != 124 ]]
  run -124 timeout 1 cat "$BUNDLE/rootfs/etc/passwd" # the control: a reader without checks hangs
}

@test "state that an attacker damages is an error, never another container's signal" {
  local content
  create
  cp "$ROOT/$ID/state.json" "$TMP/kept"
  for content in "" "{" '{"id": 5}' "garbage" $'{"pid": 99999999999999999999}' '{"initPid": 1, "init_pid": 1, "pid": 1}'; do
    echo "$content" >"$ROOT/$ID/state.json"
    run ocirun kill "$ID" KILL
    exits 1
    run ocirun start "$ID"
    exits 1
  done
  cp "$TMP/kept" "$ROOT/$ID/state.json"
  status_is created
  ocirun kill "$ID" KILL # the control: `kill` works on a valid state
  eventually status_is stopped
}

@test "a state root that other users may write is not used" {
  mkdir -m 777 "$ROOT"
  chown 1000 "$ROOT"
  attempt create --bundle "$BUNDLE" "$ID"
  [[ $status == 1 ]] || { echo "created in a root that belongs to uid 1000"; return 1; }
  chown 0 "$ROOT"
  chmod 700 "$ROOT"
  create
}

@test "a state root that another user's link leads to is not used by root; root's own link is followed" {
  local command
  create
  install -d -o 12345 "$TMP/theirs"
  ln -s "$ROOT" "$TMP/theirs/ocirun"
  chown -h 12345 "$TMP/theirs/ocirun"
  for command in state kill "delete --force"; do
    # shellcheck disable=SC2086 # words
    run "$OCIRUN" --root "$TMP/theirs/ocirun" $command "$ID"
    exits 1 "the link ocirun belongs to user 12345, who chooses where it leads"
  done
  status_is created
  ln -s "$ROOT" "$TMP/ours"
  equal created "$("$OCIRUN" --root "$TMP/ours" state "$ID" | jq -r .status)"
}

# LXC's lock was a file below /run/lock, where everybody may plant a symlink. ocirun locks the container's state directory.
@test "lxc CVE-2015-1331 a link planted where the state root or its parents are to be: nothing is made or locked behind it" {
  local place
  install -d -m 777 -o 12345 "$TMP/anybodys"
  ln -s "$DECOY" "$TMP/anybodys/link"
  ln -s "$DECOY/new" "$TMP/anybodys/dangling"
  chown -h 12345 "$TMP/anybodys"/*
  for place in link link/sub link/new/root dangling dangling/root; do
    ROOT=$TMP/anybodys/$place attempt create --bundle "$BUNDLE" "$ID"
    exits 1 "belongs to user 12345, who chooses where it leads"
    ROOT=$TMP/anybodys/$place attempt delete --force "$ID"
    exits 1 "belongs to user 12345, who chooses where it leads"
    decoy_is_unchanged
  done
  flock "$TMP/anybodys/dangling" true # the control: makes the lock file by path
  decoy_was_changed
  mkdir -p "$TMP/anybodys/link/new/root"
  decoy_was_changed
}

# The control: makes directories by path, against the same user, until one of them is behind the symlink.
wins_race_by_path() {
  mkdir -p "$TMP/anybodys/place/"{1..100} || true
  decoy_was_changed
}

# The owner of the parent directory makes and removes the symlink by turns.
@test "lxc CVE-2015-1331 a parent of the state root that becomes a link while root makes it" {
  local n
  install -d -m 777 -o 12345 "$TMP/anybodys"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  config '.process.args = ["/missing"]'
  helper python3 -c '
import os, sys, time
place, target = sys.argv[1:]
os.setuid(12345)
def attempt(act, *names):
    try: act(*names)
    except OSError: pass
while True:
    attempt(os.symlink, target, place)
    attempt(os.unlink, place)
    attempt(os.rename, place, f"{place}{time.monotonic_ns()}")' "$TMP/anybodys/place" "$DECOY"
  for n in {1..100}; do
    ROOT=$TMP/anybodys/place/$n attempt create --bundle "$BUNDLE" "$ID"
    exits 1
  done
  decoy_is_unchanged
  eventually wins_race_by_path
  stop_helpers
  make_decoy
}

@test "a state file that is a link is not opened: an open of a device may do something" {
  create
  mv "$ROOT/$ID/state.json" "$TMP/state.json"
  ln -s "$TMP/state.json" "$ROOT/$ID/state.json"
  run ocirun state "$ID"
  exits 1 "too many levels of symbolic links"
  run ocirun list
  matches "$ID .*unknown"
  mv "$TMP/state.json" "$ROOT/$ID/state.json"
  status_is created
}

# The owner of the state root makes root's `delete` wait for the lock, and meanwhile replaces the state root by a symlink.
@test "delete removes the state's directory where it is, not what its path leads to by then" {
  install -d -m 700 -o 12345 "$TMP/theirs" "$TMP/theirs/ocirun" "$TMP/theirs/ocirun/$ID"
  mkdir -p "$TMP/precious/$ID"
  helper flock --no-fork "$TMP/theirs/ocirun/$ID" sleep 1000
  eventually eval '! flock -n "$TMP/theirs/ocirun/$ID" true'
  "$OCIRUN" --root "$TMP/theirs/ocirun" delete --force "$ID" >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually has_open "$!" "$TMP/theirs/ocirun/$ID"
  mv "$TMP/theirs/ocirun" "$TMP/theirs/moved"
  ln -s "$TMP/precious" "$TMP/theirs/ocirun"
  kill -KILL "${HELPERS[-2]}"
  eventually is_gone "$TMP/theirs/moved/$ID"
  [[ -d $TMP/precious/$ID ]]
}

has_open() { find "/proc/$1/fd" -lname "$2" 2>/dev/null | grep -q .; }

@test "a runtime that is killed at any of many points leaves only what delete --force removes" {
  local delay
  for delay in 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.010 0.012 0.015 0.020; do
    timeout -s KILL "$delay" "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- || true
    run ocirun delete --force "$ID"
    succeeds
    untraced host_is_unchanged || { print_host_changes; return 1; }
  done
  create
  detector_catches untraced is_unchanged_now # the control: the container still runs
}

@test "a stranger who got the number of a container's init takes none of its signals" {
  local pid stranger
  create_and_start
  pid=$(init_pid)
  ocirun kill "$ID" KILL
  eventually is_gone "/proc/$pid"
  echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid || skip "this kernel gives no number on request"
  python3 -c 'import time; time.sleep(1000)' 3>&- 4>&- &
  stranger=$!
  HELPERS+=("$stranger")
  [[ $stranger == "$pid" ]] || skip "the number was taken by another"
  attempt kill "$ID" KILL
  exits 1 "container not running"
  attempt kill --all "$ID" KILL
  attempt delete "$ID"
  succeeds
  lives_on "$stranger"
  kill -KILL "$pid" # the control: a signal to the pid, without a check
  wait "$stranger" || true
  detector_catches lives_on "$stranger"
}

lives_on() { kill -0 "$1" 2>/dev/null || { echo "process $1 is dead"; return 1; }; }

@test "a create that is killed takes init with it, also one that waits for a hook and reads no message" {
  container_hook 'echo >/begun; exec sleep 1000'
  sed -i "s|/begun|$TMP/begun|" "$BUNDLE/config.json"
  helper "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  eventually exists "$TMP/begun"
  detector_catches nobody_waits # the control: the hook, a process in the container's pid namespace
  kill -KILL "${HELPERS[-1]}"
  eventually nobody_waits
  ocirun delete --force "$ID"
}

nobody_waits() { ! pgrep -xf 'sleep 1000' >/dev/null; }

# --- what a container or its image may not hold up, nor say -------------------------------------------------

@test "a startContainer hook of the image that never ends cannot keep its container from delete --force" {
  printf '%s\n' '#!/bin/sh' 'trap "" TERM INT HUP' 'echo begun >/begun' 'while :; do sleep 1; done' >"$BUNDLE/rootfs/hook"
  chmod +x "$BUNDLE/rootfs/hook"
  config '.hooks.startContainer = [{path: "/hook"}]'
  create
  helper "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" start "$ID"
  eventually exists "$BUNDLE/rootfs/begun"
  run ! flock --nonblock "$ROOT/$ID" true # `start` holds the lock: otherwise the test proves nothing
  run ocirun delete --force "$ID"
  succeeds
  [[ ! -e $ROOT/$ID ]]
  eventually has_ended
}

has_ended() { ! kill -0 "${HELPERS[-1]}" 2>/dev/null || [[ $(ps -o stat= -p "${HELPERS[-1]}") == Z* ]]; }

@test "a signal ends a run that waits for a startContainer hook of the image that never ends" {
  printf '%s\n' '#!/bin/sh' 'trap "" TERM INT HUP' 'echo begun >/begun' 'while :; do sleep 1; done' >"$BUNDLE/rootfs/hook"
  chmod +x "$BUNDLE/rootfs/hook"
  config '.hooks.startContainer = [{path: "/hook"}]'
  helper "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  eventually exists "$BUNDLE/rootfs/begun"
  eventually waits "${HELPERS[-1]}"
  ends_by_term "${HELPERS[-1]}"
  [[ ! -e $ROOT/$ID ]]
}

@test "a signal ends an exec whose process never comes to its execve" {
  needs_system_call pidfd_open "an exec with a seccomp agent"
  local pid
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $p,
    syscalls: [{names: ["execve"], action: "SCMP_ACT_NOTIFY"}]}' --arg p "$TMP/agent"
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" 1 # answers init and no other process
  eventually exists "$TMP/agent"
  create
  helper "$OCIRUN" --root "$ROOT" exec --pid-file "$TMP/pid" "$ID" true
  eventually exists "$TMP/pid"
  pid=$(<"$TMP/pid")
  eventually contains "/proc/$pid/status" $'Seccomp:\t2' # its filter is loaded, and execve comes next
  eventually waits "${HELPERS[-1]}"
  ends_by_term "${HELPERS[-1]}"
  eventually is_gone "/proc/$pid"
}

@test "list shows what a terminal would obey in a bundle's name" {
  mv "$BUNDLE" "$TMP/b"$'\e\a'
  BUNDLE=$TMP/b$'\e\a'
  create
  run ocirun list
  no_controls
  output_mentions '/b\x1b\x07'
}

# no_controls: $output has no control characters that a terminal would obey.
no_controls() {
  [[ $output != *[$'\e\a\r\177']* && $output != *$'\xc2\x9b'* ]] || { echo "found:"; cat -v <<<"$output"; return 1; }
}

@test "a name of the image cannot talk to the operator's terminal, nor forge a line of the log" {
  local deep
  deep=$BUNDLE/rootfs/data/$'\e]0;title\a\r\xc2\x9b2J\nocirun: all is well'$(printf '/x%.0s' {1..130})
  mkdir -p "$deep"
  add_mount '{"destination": "/data", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}'
  run_container
  exits 1 '\x1b]0;title\x07\x0d\x9b2J'
  no_controls
  for format in text json; do
    ocirun --log "$TMP/log.$format" --log-format "$format" run --bundle "$BUNDLE" "$ID" 2>/dev/null || true
    output=$(<"$TMP/log.$format")
    no_controls
    equal 1 "$(grep -c . "$TMP/log.$format")"
  done
  output=$(ls --show-control-chars -N "$BUNDLE/rootfs/data")
  detector_catches no_controls
}
