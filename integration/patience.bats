# No command waits for ever: after a bounded time it fails and names what it waited for, and it works once that is there.
# lib/deaf-filesystem is a filesystem that does not answer. Other files test the console socket (terminal.bats), a service manager
# (service.bats), a stopped D-Bus (systemd.bats) and hooks (hooks.bats).
# shellcheck disable=SC2030,SC2031 # what runs beside has a TMP of its own
load lib/common

# within SECONDS COMMAND…: like attempt, and the command must end in this time, with thirty seconds more for a busy machine. A test of a
# command that must not wait at all checks the message: after a wait of ten seconds it is another.
within() {
  local begin=$SECONDS limit=$1
  attempt "${@:2}"
  [[ $((SECONDS - begin)) -lt $((limit + 30)) ]] || { echo "it took $((SECONDS - begin)) s" && fail_with_output; }
}

# beside NAME SECONDS COMMAND…: `within` in the background. The output is in said.NAME, the pid of its shell in $pids.
beside() {
  mkdir "$TMP/$1"
  (
    TMP=$TMP/$1
    within "${@:2}"
    echo "$status $output" >"$TMP/../said.$1"
  ) &
  pids+=($!)
}

@test "a lock that a stopped ocirun holds: others wait ten seconds and say so, what needs no lock does not wait" {
  local waiting command pids=() number
  config '.hooks.startContainer = [{path: "/bin/sleep", args: ["sleep", "1000"]}]'
  create
  "$OCIRUN" --root "$ROOT" start "$ID" </dev/null >"$TMP/started" 2>&1 3>&- 4>&- & # `start` holds the lock until the program runs
  waiting=$!
  HELPERS+=("$waiting")
  eventually hook_runs
  kill -STOP "$waiting"
  within 0 state "$ID"
  exits 0 '"id"'
  within 0 list
  exits 0 "$ID"
  for command in "pause $ID" "update --pids-limit 30 $ID" "delete --force $ID"; do
    # shellcheck disable=SC2086 # words
    beside "${command%% *}" 11 $command
  done
  wait "${pids[@]}"
  for number in pause update delete; do
    equal "1 ocirun: $number $ID: another command works on this container (waited 10 s for its lock): device or resource busy" "$(<"$TMP/said.$number")"
  done
  kill -KILL "$waiting"
  ocirun delete --force "$ID"
}

hook_runs() { pgrep -P "$(init_pid)" sleep >/dev/null; }

@test "a cgroup above that is frozen: exec and resume say so, and delete --force says what does not die" {
  local freezer=/sys/fs/cgroup/freezer/$ID-above/freezer.state frozen=FROZEN thawed=THAWED
  if pure_v2; then freezer=/sys/fs/cgroup/$ID-above/cgroup.freeze frozen=1 thawed=0; fi
  make_cgroups "$ID-above"
  config '.linux.cgroupsPath = $p | del(.linux.resources)' --arg p "/$ID-above/$ID"
  create_and_start
  echo $frozen >"$freezer"
  eventually status_is paused
  within 0 exec "$ID" true
  exits 255 "paused container"
  within 10 resume "$ID"
  exits 1 "a cgroup above it is frozen"
  within 20 delete --force "$ID"
  if pure_v2; then
    succeeds # on v2 a frozen process dies
  else
    exits 1 "do not die"
  fi
  echo $thawed >"$freezer"
  ocirun delete --force "$ID"
  remove_cgroups "$ID-above"
}

@test "a pidfd socket, a console socket and a seccomp agent that do not accept are waited for ten seconds" {
  local socket=$TMP/deaf option pids=()
  helper python3 -c '
import socket, sys, time
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(0)
full = socket.socket(socket.AF_UNIX); full.connect(sys.argv[1])
open(sys.argv[1] + ".ready", "w"); time.sleep(1000)' "$socket"
  eventually exists "$socket.ready"
  beside pidfd 10 create --bundle "$BUNDLE" --pidfd-socket "$socket" "$ID"
  cp -a "$BUNDLE" "$BUNDLE-agent"
  jq --arg s "$socket" --arg id "/$ID-agent" '.linux.cgroupsPath = $id | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $s,
    syscalls: [{names: ["kexec_load"], action: "SCMP_ACT_NOTIFY"}]}' "$BUNDLE/config.json" >"$BUNDLE-agent/config.json"
  beside agent 10 create --bundle "$BUNDLE-agent" "$ID-agent"
  wait "${pids[@]}"
  for option in pidfd agent; do
    contains "$TMP/said.$option" "1 ocirun: create $ID" || { cat "$TMP/said.$option" && false; }
    contains "$TMP/said.$option" "connect to $socket: whoever listens there has not accepted for 10 s" || { cat "$TMP/said.$option" && false; }
  done
  [[ ! -e $ROOT/$ID && ! -e $ROOT/$ID-agent ]]
}

@test "a dead init: start, exec, kill and update say at once that the container has stopped" {
  local command
  create
  kill -KILL "$(init_pid)"
  eventually status_is stopped
  for command in "start $ID" "kill $ID" "pause $ID" "update --pids-limit 30 $ID"; do
    # shellcheck disable=SC2086 # words
    within 0 $command
    [[ $status == 1 && $output =~ stopped|"not running" ]] || fail_with_output
  done
  within 0 exec "$ID" true
  exits 255 stopped
  within 0 delete "$ID"
  succeeds
}

@test "files that would be waited for are refused: a fifo as config.json or as the log" {
  mkfifo "$TMP/fifo"
  mv "$BUNDLE/config.json" "$TMP/kept"
  mkfifo "$BUNDLE/config.json"
  within 0 create --bundle "$BUNDLE" "$ID"
  exits 1 "must be a regular file"
  within 0 validate "$BUNDLE"
  exits 1 "must be a regular file"
  mv -f "$TMP/kept" "$BUNDLE/config.json"
  within 0 --log "$TMP/fifo" list
  exits 1 "nobody reads"
}

# deaf_filesystem: binds a filesystem that never answers to /deaf of the container.
deaf_filesystem() {
  [[ -r /dev/fuse ]] || skip "this kernel has no FUSE"
  mkdir "$TMP/deaf"
  helper "$LIB/deaf-filesystem" "$TMP/deaf"
  eventually contains "$TMP/helper.log" ready
  add_mount '{"destination": "/deaf", "type": "bind", "source": "'"$TMP/deaf"'", "options": ["bind"]}'
}

# Kills the server first: processes that wait for the filesystem cannot be killed before, and die a moment later.
end_deaf_filesystem() {
  kill -KILL "$HELPER"
  eventually umount "$TMP/deaf"
}

@test "a process that waits for its filesystem cannot be frozen: pause says so after ten seconds, and the others run on" {
  deaf_filesystem
  script 'cat /deaf/file; echo heard; exec sleep 1000'
  create_and_start
  eventually contains "$TMP/helper.log" asked
  within 10 pause "$ID"
  exits 1 "a process in it has not stopped for 10 s"
  status_is running
  equal alive "$(ocirun exec "$ID" echo alive)"
  within 10 update --pids-limit 30 "$ID"
  succeeds
  end_deaf_filesystem
  eventually contains "$TMP/output" heard
  ocirun pause "$ID"
  status_is paused
}

@test "a device node on a filesystem that does not answer: update says so after ten seconds and leaves everything as it was" {
  local before
  deaf_filesystem
  create_and_start
  before=$(<"$ROOT/$ID/config.json")
  within 11 update --device-add /dev/kmsg:/deaf/kmsg "$ID"
  exits 1 "change device nodes: a filesystem of the container has not answered for 10 s"
  equal "$before" "$(<"$ROOT/$ID/config.json")"
  [[ $(ocirun exec "$ID" sh -c 'mknod /dev/kmsg c 1 11 && cat </dev/kmsg' 2>&1) == *"not permitted"* ]] || fail_with_output
  end_deaf_filesystem
  eventually untraced no_helper_is_left
}

@test "an exec that waits in a filesystem of the container ends by SIGTERM, and leaves its process to whoever has the filesystem" {
  deaf_filesystem
  create_and_start
  "$OCIRUN" --root "$ROOT" exec --cwd /deaf/below "$ID" true </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually contains "$TMP/helper.log" asked
  ends_by_term "$!"
  end_deaf_filesystem
}

no_helper_is_left() { ! pgrep -x ocirun:change >/dev/null; }

@test "a seccomp agent that takes the listener and answers nothing: create and start say so after ten seconds" {
  local command pids=()
  for command in create start; do
    cp -a "$BUNDLE" "$BUNDLE-$command"
    # faccessat: init's last call before it is ready; execve: its call after `start`. User 1000: the kernel clears PR_SET_PDEATHSIG when
    # a process becomes another user.
    jq --arg s "$TMP/agent-$command" --arg id "/$ID-$command" --arg name "$([[ $command == create ]] && echo faccessat || echo execve)" '
      .linux.cgroupsPath = $id | .process.user = {uid: 1000, gid: 1000}
      | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $s, syscalls: [{names: [$name], action: "SCMP_ACT_NOTIFY"}]}' \
      "$BUNDLE/config.json" >"$BUNDLE-$command/config.json"
    helper "$LIB/seccomp-agent" "$TMP/agent-$command" "$TMP/message-$command" none
    eventually exists "$TMP/agent-$command"
  done
  ocirun create --bundle "$BUNDLE-start" "$ID-start" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  beside create 10 create --bundle "$BUNDLE-create" "$ID-create"
  beside start 10 start "$ID-start"
  wait "${pids[@]}"
  for command in create start; do
    contains "$TMP/said.$command" "1 ocirun: $command $ID-$command" || { cat "$TMP/said.$command" && false; }
    contains "$TMP/said.$command" "the agent at $TMP/agent-$command has not answered for 10 s" || { cat "$TMP/said.$command" && false; }
  done
  [[ ! -e $ROOT/$ID-create ]]
  equal stopped "$(ocirun state "$ID-start" | jq -r .status)"
}

# silent_agent: starts an agent that never answers, for the bundle's next process.
silent_agent() {
  rm -f "$TMP"/agent "$TMP"/message*
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" none
  eventually exists "$TMP/agent"
}

# silent_since_start CALL: starts a container; from then on its agent does not answer processes that make the system call CALL. User 1000:
# PR_SET_PDEATHSIG must be set again after a change of the user.
silent_since_start() {
  config '.process.user = {uid: 1000, gid: 1000} | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $s,
    syscalls: [{names: [$c], action: "SCMP_ACT_NOTIFY"}]}' --arg s "$TMP/agent" --arg c "$1"
  helper "$LIB/seccomp-agent" "$TMP/agent" "$TMP/message" continue
  eventually exists "$TMP/agent"
  create_and_start
  silent_agent
}

alone_in_container() { [[ $(ocirun ps --format json "$ID") == "[$(init_pid)]" ]]; }

@test "an exec whose seccomp agent answers nothing says so after ten seconds, and leaves no process" {
  local call
  needs_system_call pidfd_open "an agent of a process that exec makes"
  for call in faccessat execve; do # the last call before the process is ready, and its last call
    silent_since_start "$call"
    within 10 exec "$ID" true
    exits 255 "ocirun: exec $ID: "
    output_mentions "/linux/seccomp/listenerPath: the agent at $TMP/agent has not answered for 10 s"
    exists "$TMP/message.held"
    eventually alone_in_container
    ocirun delete --force "$ID"
    stop_helpers
    rm "$TMP/agent"
  done
}

@test "an exec and a create that are killed while an agent holds their process take it with them" {
  local command pid
  needs_system_call pidfd_open "an agent of a process that exec makes"
  silent_since_start faccessat
  for command in "exec $ID true" "create --bundle $BUNDLE $ID"; do
    # shellcheck disable=SC2086 # words
    "$OCIRUN" --root "$ROOT" $command </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
    HELPERS+=("$!")
    eventually exists "$TMP/message.held"
    pid=$(jq .pid "$TMP/message")
    exists "/proc/$pid"
    kill -KILL "$!"
    eventually is_gone "/proc/$pid"
    ocirun delete --force "$ID"
    silent_agent
  done
}

# joins_late NAME OPTION…: starts an exec that is delayed by six seconds before it makes its process. The pid of its shell is in $pids.
joins_late() {
  timeout -k 2 90 strace -o "$TMP/$1.trace" -e trace=clone,clone3 -e inject=clone,clone3:delay_enter=6s \
    "$OCIRUN" --root "$ROOT" exec "${@:2}" "$ID" true </dev/null >"$TMP/$1.said" 2>&1 3>&- 4>&- &
  pids+=("$!")
}

@test "an exec whose container is paused before its process is made says so after ten seconds, or waits as it is told" {
  local pids=() status=0
  create_and_start
  joins_late plain
  joins_late patient --ignore-paused
  eventually test -s "$TMP/plain.trace" -a -s "$TMP/patient.trace"
  ocirun pause "$ID"
  wait "${pids[0]}" || status=$?
  output=$(<"$TMP/plain.said")
  exits 255 "cannot exec in a paused container (resume it, or give --ignore-paused)"
  eventually contains "$TMP/patient.said" "still waiting after 10 s, while it was started: the container is paused"
  ocirun resume "$ID"
  wait "${pids[1]}"
  eventually alone_in_container
}

# Fills the backlog of init's socket, two connections, as `start` commands that were killed do.
fill_the_queue_of_init() {
  python3 -c 'import os, socket, sys
os.chdir(sys.argv[1])
for number in 1, 2: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("start.sock")' "$ROOT/$ID"
}

@test "a start that a stopped init does not take ends after ten seconds, and the container starts when it goes on" {
  local pid
  create
  pid=$(init_pid)
  kill -STOP "$pid"
  fill_the_queue_of_init
  within 10 start "$ID"
  exits 1 "$ID/start.sock: init has not accepted for 10 s; has a signal stopped it?"
  status_is created
  kill -CONT "$pid"
  eventually status_is running
}

# Mounts the filesystem that never answers on the host. Processes that wait for it cannot be killed before its server.
deaf_host() {
  deaf_filesystem
  config '.mounts |= map(select(.destination != "/deaf"))'
}

@test "a hook that waits for the kernel keeps no command against its timeout or a signal" {
  deaf_host
  config '.hooks.createRuntime = [{path: "/bin/cat", args: ["cat", $d], timeout: 1}]' --arg d "$TMP/deaf/file"
  within 5 create --bundle "$BUNDLE" "$ID"
  exits 1 "createRuntime hook #0 (/bin/cat): timed out after 1 s"
  [[ ! -e $ROOT/$ID ]]
  config 'del(.hooks.createRuntime[0].timeout)'
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually pgrep -P "$!" -x cat >/dev/null
  eventually waits "$(pgrep -P "$!" -x cat)"
  ends_by_term "$!"
  [[ ! -e $ROOT/$ID ]]
  end_deaf_filesystem
}

@test "an init that died under a hook that waits for the kernel: create says so, and its state stays for delete --force" {
  deaf_host
  config '.hooks.createContainer = [{path: "/bin/cat", args: ["cat", $d]}]' --arg d "$TMP/deaf/file"
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually contains "$TMP/helper.log" asked
  kill -KILL "$(pgrep -P "$!")"
  eventually has_ended "$!"
  contains "$TMP/output" "the container's process ended"
  contains "$TMP/output" "delete --force $ID removes what is left"
  within 12 delete --force "$ID"
  exits 1 "do not die"
  end_deaf_filesystem
  within 5 delete --force "$ID"
  succeeds
}

@test "a source that does not answer and that create opens itself keeps it against no signal" {
  deaf_host
  config '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.gidMappings = .linux.uidMappings'
  add_mount '{"destination": "/data", "type": "bind", "source": "'"$TMP/deaf/file"'", "options": ["bind", "ro"]}'
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually contains "$TMP/helper.log" asked
  ends_by_term "$!"
  end_deaf_filesystem
}

@test "nor does the source of an id-mapped bind" {
  deaf_host
  add_mount '{"destination": "/data", "type": "bind", "source": "'"$TMP/deaf/file"'", "options": ["bind", "idmap"],
    "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}], "gidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}]}'
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  HELPERS+=("$!")
  eventually contains "$TMP/helper.log" asked
  ends_by_term "$!"
  end_deaf_filesystem
}

@test "a stderr that nobody reads keeps create against no signal" {
  mkfifo "$TMP/full"
  exec 7<>"$TMP/full"
  python3 -c 'import os; os.set_blocking(7, False)
try:
    while True: os.write(7, b"x" * 4096)
except BlockingIOError: os.set_blocking(7, True)'
  "$OCIRUN" --root "$ROOT" create --bundle "$TMP/none" "$ID" </dev/null >/dev/null 2>&7 3>&- 4>&- 7>&- &
  HELPERS+=("$!")
  eventually waits "$!"
  ends_by_term "$!" 1 # the error's own: the signal was not ignored, nor did it kill
  exec 7>&-
}

@test "nor does one that takes a part of a long error" {
  mkfifo "$TMP/half"
  exec 7<>"$TMP/half"
  config '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "head -c 65000 /dev/zero | tr \"\\0\" x; exit 1"]}]'
  head -c 32768 /dev/zero >&7
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&7 3>&- 4>&- 7>&- &
  HELPERS+=("$!")
  eventually is_gone "$ROOT/$ID/intent.json"
  eventually waits "$!"
  ends_by_term "$!" 1 # the error's own: the signal was not ignored, nor did it kill
  exec 7>&-
}
