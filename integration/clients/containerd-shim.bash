#!/usr/bin/env bash
# shellcheck disable=SC2016 # what is quoted is for other shells
# The check list of containerd with the runtime's own shim, containerd-shim-ocirun-v2, which lies beside the runtime.
ENGINE=containerd-shim
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/containerd_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/containerd_setup.bash"
SHIM=${RUNTIME%/*}/containerd-shim-ocirun-v2
printf '%s = "%s"\n' BinaryName "$RUNTIME" Root /run/c8d-runc >"$WORK/shim.toml"
# shellcheck disable=SC2034 # used by the checks
OPTIONS=(--snapshotter native --runtime "$SHIM" --runtime-config-path "$WORK/shim.toml")
# shellcheck source=integration/clients/containerd_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/containerd_checks.bash"

# what ctr's checks do not see
events_are_told() {
  local id=$NAME-events watcher
  stdbuf -oL ctr events >"$WORK/events" &
  watcher=$!
  sleep 1
  ctr run --rm "${OPTIONS[@]}" localhost/busybox:latest "$id" true
  eventually grep -q "/tasks/delete.*$id" "$WORK/events"
  kill "$watcher"
  [[ $(grep -o '/tasks/[a-z]* .*'"$id" "$WORK/events" | cut -d' ' -f1 | tr '\n' ' ') == "/tasks/create /tasks/start /tasks/exit /tasks/delete " ]]
}
check "events are told in order" events_are_told
logs_to_a_file() {
  local id=$NAME-file
  ctr run -d --log-uri "file://$WORK/log%20of" "${OPTIONS[@]}" localhost/busybox:latest "$id" seq 200000
  eventually eval 'ctr tasks ls | grep -q "$NAME-file .*STOPPED"'
  ctr tasks delete "$id" && ctr containers delete "$id"
  [[ $(wc -l <"$WORK/log of") == 200000 && $(tail -n 1 "$WORK/log of") == 200000 ]]
}
check "a file gets all lines of a log" logs_to_a_file
logs_to_a_program() {
  local id=$NAME-logger
  printf '#!/bin/sh\nsleep 0.3\nexec 5>&-\necho "$CONTAINER_ID $CONTAINER_NAMESPACE $*" >%s/logged\nexec cat <&3 >>%s/logged\n' "$WORK" "$WORK" >"$WORK/logger"
  chmod 0755 "$WORK/logger"
  ctr run -d --log-uri "binary://$WORK/logger?key=a+value" "${OPTIONS[@]}" localhost/busybox:latest "$id" echo hello
  eventually eval 'ctr tasks ls | grep -q "$NAME-logger .*STOPPED"'
  ctr tasks delete "$id" && ctr containers delete "$id"
  [[ $(<"$WORK/logged") == "$id default key a value"$'\n'hello ]]
}
check "a logging program gets the output" logs_to_a_program
# the shim's own log, which containerd copies
failures_are_logged() {
  local id=$NAME-missing
  ! ctr run --rm "${OPTIONS[@]}" localhost/busybox:latest "$id" /no/such/program || return
  eventually grep -q 'level=error msg="Create took .* and failed: OCI runtime create failed: .*/no/such/program' "$WORK/containerd.log"
}
check "containerd's log has the shim's failures" failures_are_logged
killed_shims_leave_nothing() {
  local id=$NAME-killed shim
  ctr run -d "${OPTIONS[@]}" localhost/busybox:latest "$id" sleep 1000
  shim=$(pgrep -f "$SHIM.*$id")
  [[ $(find /run/containerd/s -type s | wc -l) -ge 1 ]]
  kill -9 "$shim"
  eventually eval '! ctr tasks ls | grep -q "$NAME-killed .*RUNNING"'
  ctr tasks delete "$id"
  ctr containers delete "$id"
  [[ -z $(find /run/containerd/s -mindepth 1) && -z $("$RUNTIME" --root /run/c8d-runc/default list -q) ]] &&
    ! grep -q "/run/c8d/.*$id" /proc/self/mountinfo
}
check "a shim that was killed leaves nothing" killed_shims_leave_nothing
shims_end() { ! pgrep -f "$SHIM.*$NAME"; }
check "no shim is left" eventually shims_end
end_list
