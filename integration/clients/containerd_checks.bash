# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# The checks of the lists containerd and containerd-shim. $SHIM is the shim, and ${OPTIONS[@]} chooses it for `ctr run`.
# shellcheck source=integration/clients/inspect_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/inspect_checks.bash"
check "containerd starts" traced start_containerd

check "import of an image" import_image

NAME=${OCIRUN_TEST_MARK}c8d
NUMBER=0
run() {
  NUMBER=$((NUMBER + 1))
  ctr run --rm "${OPTIONS[@]}" "${RUN[@]}" localhost/busybox:latest "$NAME-$BASHPID-$NUMBER" "$@"
}
RUN=()
with() { local RUN=(${1:+$1}) && shift && run "$@"; }

check_output "run prints" hello run echo hello
check_status "run returns the program's status" 7 run sh -c 'exit 7'
check_mentions "a program that is not found is told" 'exec: "nosuch": executable file not found in $PATH' run nosuch
check_mentions "a file that may not be executed is told" "permission denied" run /etc/noexec
check_output "an environment variable" value with "--env NAME=value" sh -c 'echo $NAME'
check_output "a working directory" /tmp with "--cwd /tmp" pwd
check_output "a read-only root" no with --read-only sh -c 'touch /x 2>/dev/null && echo yes || echo no'
check_output "a bind mount" data with "--mount type=bind,src=$WORK/image/etc,dst=/mnt,options=rbind:ro" cat /mnt/noexec
# limit_with LIMIT OPTION…: prints the value from the host's cgroup filesystem, because ctr mounts no cgroups into its containers.
limit_with() {
  local id=$NAME-limit status
  ctr run -d "${OPTIONS[@]}" "${@:2}" localhost/busybox:latest "$id" sleep 100 >/dev/null && limit_of "$1" "$id"
  status=$?
  ctr tasks delete -f "$id" >/dev/null 2>&1
  ctr containers delete "$id"
  return $status
}
check_output "a memory limit" 67108864 limit_with memory --memory-limit 67108864
check_output "a cpu quota" 50000 limit_with quota --cpu-quota 50000 --cpu-period 100000
check_output "the default seccomp filter" "Seccomp:	2" with --seccomp grep Seccomp: /proc/self/status
check "privileged" with --privileged true
check_output "the host's network" lo with --net-host ls /sys/class/net
check_output "a terminal" /dev/pts/0 run_with_terminal "ctr run --rm -t ${OPTIONS[*]} localhost/busybox:latest $NAME-tty tty"
check_output "an extra device" c with "--device /dev/kmsg" sh -c 'test -c /dev/kmsg && echo c'

# --- the container beside its document ---------------------------------------------------------------------
inspect_setup
ctr run -d "${OPTIONS[@]}" --memory-limit 67108864 --mount "type=bind,src=$WORK/shown,dst=/shown,options=rbind:ro" \
  --mount "type=bind,src=$WORK/note,dst=/etc/note,options=rbind" localhost/busybox:latest "$NAME-seen" sleep 1000 >/dev/null
check_inspection "$NAME-seen"
ctr tasks delete -f "$NAME-seen" >/dev/null 2>&1
ctr containers delete "$NAME-seen"

ONE=$NAME-one
run_detached() { ctr run -d "${OPTIONS[@]}" localhost/busybox:latest "$ONE" sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done'; }
status_is() { ctr tasks ls | grep -qE "^$ONE +[0-9]+ +$1"; }
execute() { NUMBER=$((NUMBER + 1)) && ctr tasks exec --exec-id "e$BASHPID$NUMBER" "$@"; }
check "run detached" run_detached
check "it is listed as running" status_is RUNNING
check_output "exec" hello execute "$ONE" echo hello
check_status "exec returns the status" 9 execute "$ONE" sh -c 'exit 9'
check_mentions "exec of what is not found is told" "executable file not found" execute "$ONE" nosuch
check_output "exec with a user and a directory" "1000 /tmp" execute --user 1000 --cwd /tmp "$ONE" sh -c 'echo $(id -u) $(pwd)'
# The program sleeps because ctr sets the terminal's size after it has started the process.
check_output "exec with a terminal" /dev/pts/0 run_with_terminal "ctr tasks exec -t --exec-id tty $ONE sh -c 'tty; sleep 0.5'"
check "exec detached" ctr tasks exec -d --exec-id detached "$ONE" sh -c 'echo done >/tmp/detached'
check "ps" ctr tasks ps "$ONE"
check_mentions "metrics" memory.usage ctr tasks metrics "$ONE"
check "pause" ctr tasks pause "$ONE"
check "it is listed as paused" status_is PAUSED
check "resume" ctr tasks resume "$ONE"
check "it is listed as running again" status_is RUNNING
check "kill with a signal that is caught" ctr tasks kill -s SIGTERM "$ONE"
check "it is stopped" eventually status_is STOPPED
check_mentions "a signal to a dead container is told" "process already finished" ctr tasks kill -s SIGTERM "$ONE"
check_mentions "delete tells the status" "exit code 5" ctr tasks delete "$ONE"
check "the container goes" ctr containers delete "$ONE"

restart_daemon() {
  run_detached || return 1
  stop_daemon
  start_containerd && status_is RUNNING && [[ $(execute "$ONE" echo again) == again ]]
}
check "a container survives the daemon's restart" restart_daemon
kill_shim() {
  local pid
  pid=$(pgrep -f "${SHIM##*/}.*-id $ONE" | head -n 1)
  kill -KILL "$pid" && eventually no_runtime_state && ctr tasks ls && { ctr tasks delete -f "$ONE" || true; } && ctr containers delete "$ONE"
}
no_runtime_state() { [[ -z $(find /run/c8d-runc -mindepth 2 -maxdepth 2 2>/dev/null) ]]; }
check "a killed shim is cleaned up after" kill_shim
many_at_once() {
  local number pids=()
  for number in {1..12}; do
    ctr run --rm "${OPTIONS[@]}" localhost/busybox:latest "$NAME-many-$number" echo "$number" >"$WORK/many.$number" &
    pids+=($!)
  done
  for number in {1..12}; do wait "${pids[number - 1]}" && [[ $(<"$WORK/many.$number") == "$number" ]] || return 1; done
}
check "twelve at once" many_at_once
# A container that counts is written into an image, and goes on as another container.
checkpoint_and_restore() {
  local id=$NAME-counts image=localhost/counts:1 before
  ctr run -d "${OPTIONS[@]}" localhost/busybox:latest "$id" sh -c 'i=0; while :; do i=$((i + 1)); echo $i >/n; sleep 0.1; done' &&
    eventually execute "$id" test -s /n && ctr containers checkpoint --task --image --rw "$id" "$image" && before=$(execute "$id" cat /n) || return 1
  ctr tasks delete -f "$id" || true # a warning tells the status 137
  ctr containers delete "$id"
  ctr containers restore --live --rw "$id-again" "$image" &
  eventually goes_on "$id-again" "$before"
  local rc=$?
  ctr tasks kill -s SIGKILL "$id-again" || rc=1
  wait $!
  ctr containers delete "$id-again" && ctr images delete "$image" && return "$rc"
}
goes_on() { [[ $(execute "$1" cat /n) -gt $2 ]]; }
if criu check >/dev/null 2>&1; then
  check "checkpoint and restore" checkpoint_and_restore
else
  skip "checkpoint and restore" "criu check fails under this kernel"
fi
nothing_is_left() { [[ -z $(ctr containers ls -q) ]] && eventually no_runtime_state; }
check "nothing is left" nothing_is_left
