load lib/common

@test "OP-4 kill on a stopped container says: container not running" {
  program true
  create_and_start
  eventually status_is stopped
  run ocirun kill "$ID" KILL
  exits 1 "container not running"
}

@test "OP-4 a signal is a name with or without SIG in any case, a number, or RTMIN+n" {
  local signal
  script 'for s in HUP USR1 USR2 TERM INT; do trap "echo $s >>/got" $s; done; echo ready >/got
    while :; do sleep 0.01; done'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  for signal in HUP:HUP SIGUSR1:USR1 usr2:USR2 15:TERM sigint:INT; do
    ocirun kill "$ID" "${signal%:*}"
    eventually contains "$BUNDLE/rootfs/got" "${signal#*:}"
  done
  ocirun kill "$ID" RTMIN+1 # pid 1 has no handler, so that the kernel ignores the signal
  status_is running
  ocirun kill "$ID" SIGKILL
  eventually status_is stopped
}

@test "OP-4 without a signal it is TERM" {
  script 'trap "exit 3" TERM; echo ready >/got; while :; do sleep 0.01; done'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  ocirun kill "$ID"
  eventually status_is stopped
}

@test "T-7 without a signal it is the image's stop signal where an annotation names one" {
  config '.annotations = {"org.opencontainers.image.stopSignal": "SIGUSR1"}'
  script 'trap "" TERM; trap "exit 3" USR1; echo ready >/got; while :; do sleep 0.01; done'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  ocirun kill "$ID"
  eventually status_is stopped
}

@test "OP-4 a signal that does not exist is refused and has no effect" {
  local signal
  create_and_start
  for signal in BOGUS SIG 0x9 -1 65 9999 KILLER RTMAX+1; do
    run ocirun kill "$ID" "$signal"
    exits 1 || { echo "signal: $signal"; return 1; }
  done
  status_is running
}

@test "OP-4 a created container ends by TERM, INT, HUP and QUIT, with and without a pid namespace and a process" {
  local change signal
  for change in . 'del(.linux.namespaces[] | select(.type == "pid"))' 'del(.process)'; do
    config "$change"
    for signal in TERM INT HUP QUIT; do
      create
      ocirun kill "$ID" "$signal"
      eventually status_is stopped
      ocirun delete "$ID"
    done
  done
}

@test "OP-4 once the program runs, a signal that it does not handle is ignored by pid 1, as the kernel has it" {
  create_and_start
  ocirun kill "$ID" TERM
  ocirun kill "$ID" QUIT
  ocirun exec "$ID" true
  status_is running
}

@test "OP-4 TERM ends a container whose startContainer hook runs, the hook too, and start fails" {
  config '.hooks.startContainer = [{path: "/bin/sleep", args: ["sleep", "1007"]}]'
  create
  helper "$OCIRUN" --root "$ROOT" start "$ID"
  eventually pgrep -fx "sleep 1007"
  ocirun kill "$ID" TERM
  status=0
  wait "$HELPER" || status=$? # not by `run`: its subshell cannot wait for this shell's child
  [[ $status == 1 ]]
  contains "$TMP/helper.log" "before it could execute the program"
  eventually no_process "sleep 1007"
}

@test "kill --all signals every process, and succeeds after init is gone" {
  drop_namespace pid
  script 'sleep 1001 & sleep 1002 & echo ready >/got; wait'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  kill -KILL "$(init_pid)"
  eventually status_is stopped
  run ocirun kill "$ID" TERM
  exits 1 "container not running: its init has ended, but 2 processes are left in its cgroup"
  output_mentions "kill $ID KILL, or with delete --force $ID"
  run ocirun kill --all "$ID" 9
  succeeds
  output_mentions "signal 9 went to the 2 processes left in its cgroup"
  eventually no_process "sleep 1001"
  eventually no_process "sleep 1002"
}

@test "KILL without a pid namespace of its own ends what init has left in the cgroup, once" {
  drop_namespace pid
  script 'sleep 1004 & sleep 1005 & echo ready >/got; wait'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  kill -KILL "$(init_pid)"
  eventually status_is stopped
  run ocirun kill "$ID" KILL
  succeeds
  output_mentions "signal 9 went to the 2 processes left in its cgroup"
  eventually no_process "sleep 1004"
  eventually no_process "sleep 1005"
  eventually nothing_to_kill
  output_mentions "container not running"
}

@test "KILL of a container that has ended leaves the container alone that has its cgroup by now" {
  drop_namespace pid
  program true
  create_and_start
  eventually status_is stopped
  program sleep 1006
  ocirun create --bundle "$BUNDLE" "$ID-later" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  ocirun start "$ID-later"
  for option in "" --all; do
    # shellcheck disable=SC2086 # no word if it is empty
    run ocirun kill $option "$ID" KILL
    [[ -n $option ]] || exits 1 "container not running"
    equal running "$(ocirun state "$ID-later" | jq -r .status)"
  done
}

nothing_to_kill() { run ocirun kill "$ID" KILL && [[ $status == 1 ]]; }

@test "SIGKILL without a pid namespace of its own kills all that is in the cgroup" {
  drop_namespace pid
  script 'sleep 1003 & echo ready >/got; wait'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  ocirun kill "$ID" KILL
  eventually no_process "sleep 1003"
  eventually status_is stopped
}

no_process() {
  local found
  found=$(ps -eo args | grep -cxF "$1") || true
  [[ $found == 0 ]]
}
